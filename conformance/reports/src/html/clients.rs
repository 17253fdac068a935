//! Which clients break, which do not, and of which nothing is known.

use super::page::Html;
use super::plan::Plan;
use super::rules::inline;
use super::{counted, number, section};
use results::{ClientState, ClientTotal, Run};

/// Maximum number of causes that are named with a client.
const CAUSES: usize = 7;
/// Maximum number of rules that are named where a client was not tried with them.
const UNMEASURED: usize = 3;

/// Every known client and what the run means for it.
pub(super) fn clients(run: &Run, plan: &Plan, html: &mut Html) {
    let broken = run.clients_that_are(ClientState::Broken).len() as u64;
    let heading = if broken == 0 {
        "No known client breaks".to_owned()
    } else {
        format!("{} of {} break", number(broken), counted(run.clients.len() as u64, "known client"))
    };
    section("clients", &heading, html, |html| {
        if broken > 0 {
            html.tag("p").class("hint").text("The numbers refer to the findings below.");
        }
        let all = [
            (ClientState::Broken, "matrix", "Clients that break"),
            (ClientState::NotAffected, "matrix chips", "Clients that are not affected"),
            (ClientState::NotMeasured, "matrix chips", "Clients that were not measured"),
        ];
        for (state, class, label) in all {
            let clients = run.clients_that_are(state);
            if clients.is_empty() {
                continue;
            }
            html.tag("ul").class(class).set("aria-label", label).inside(|html| {
                for client in clients {
                    one(client, run, plan, html);
                }
            });
        }
        html.tag("p").class("legend").inside(|html| {
            for (class, sign, text) in [
                ("bad", "✗", "breaks on a finding of this run"),
                ("good", "✓", "reads the streams (measured with these findings)"),
                ("idle", "?", "not measured with all of these findings"),
            ] {
                html.tag("span").inside(|html| {
                    html.tag("b").class(class).set("aria-hidden", true).text(sign);
                    html.text(" ");
                    html.text(text);
                });
            }
        });
    });
}

fn one(client: &ClientTotal, run: &Run, plan: &Plan, html: &mut Html) {
    let (class, sign, word) = match client.state {
        ClientState::Broken => ("bad", "✗", "broken"),
        ClientState::NotAffected => ("good", "✓", "not affected"),
        ClientState::NotMeasured => ("idle", "?", "not measured"),
    };
    let title = match client.state {
        ClientState::Broken => String::new(),
        ClientState::NotAffected => "reads the streams (measured with these findings)".to_owned(),
        ClientState::NotMeasured => untried(client),
    };
    let entry = html.tag("li").class(class);
    let entry = if title.is_empty() { entry } else { entry.set("title", &title) };
    entry.inside(|html| {
        html.tag("p").class("client").inside(|html| {
            html.tag("b").class("sign").set("aria-hidden", true).text(sign);
            html.tag("span").class("unseen").text(&format!("{word}: "));
            html.tag("span").class("name").text(&client.name);
            if let Some(version) = client.number() {
                html.text(" ");
                html.tag("span").class("version").text(version);
            }
        });
        if client.state == ClientState::Broken {
            html.tag("p").class("by").inside(|html| {
                causes(client, run, plan, html);
                if let Some(first) = client.rules.first() {
                    let why = html.tag("span").class("why").set("title", &first.failure);
                    why.inside(|html| inline(&first.failure, html));
                }
            });
        }
    });
}

/// With which rules a client was not tried.
fn untried(client: &ClientTotal) -> String {
    let named = client.unmeasured.iter().take(UNMEASURED).cloned().collect::<Vec<_>>().join(", ");
    match (named.is_empty(), client.unmeasured.len().saturating_sub(UNMEASURED)) {
        (true, _) => "known only from reports".to_owned(),
        (false, 0) => format!("not tested with {named}"),
        (false, more) => format!("not tested with {named} and {more} more"),
    }
}

/// The findings that break a client, by their numbers.
fn causes(client: &ClientTotal, run: &Run, plan: &Plan, html: &mut Html) {
    let own = || run.causes.iter().enumerate().filter(|(_, cause)| cause.clients.contains(&client.name));
    for (at, cause) in own().take(CAUSES) {
        let Some(id) = plan.causes.get(at) else { continue };
        let link = html.tag("a").link(id).set("title", format!("{}: {}", cause.rule, cause.message));
        link.inside(|html| {
            html.tag("span").class("unseen").text("finding ");
            html.text(&number(at as u64 + 1));
        });
    }
    let more = own().count().saturating_sub(CAUSES);
    if more > 0 {
        html.tag("span").class("more-causes").text(&format!("+{more}"));
    }
}
