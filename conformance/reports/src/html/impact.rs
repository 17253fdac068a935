//! The clients section: which clients break, which do not, and which were not tested.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::page::Html;
use super::plan::Plan;
use super::rules::inline;
use super::{counted, number, section};
use results::{Cause, ClientState, ClientTotal, Run};

/// Maximum number of causes that are named with a client.
const CAUSES: usize = 7;

/// Maximum number of clients that have a card, with how they break.
const CARDS: usize = 8;

pub(super) fn clients(run: &Run, plan: &Plan, html: &mut Html) {
    if run.clients.is_empty() {
        return section("clients", "No verdict about clients", html, |html| {
            let reason = run.without_responses().unwrap_or_else(|| {
                let has_responses = run.captures.iter().any(results::CaptureReport::has_responses);
                let reason = if has_responses {
                    "no client of this API was measured"
                } else {
                    "no response was received"
                };
                reason.to_owned()
            });
            html.tag("p").class("hint").text(&format!("{reason}."));
        });
    }
    let mut broken = run.broken_clients();
    // The sort is stable: equal elements stay in the order of severity.
    broken.sort_by_cached_key(|client| Reverse(listed_causes(client, run).len()));
    let heading = if broken.is_empty() && !run.has_measured_clients() {
        "No client was measured with these findings".to_owned()
    } else if broken.is_empty() {
        "No measured client breaks".to_owned()
    } else {
        let all = counted(run.clients.len() as u64, "known client");
        format!("{} of {all} break", number(broken.len() as u64))
    };
    section("clients", &heading, html, |html| {
        if !broken.is_empty() {
            html.tag("p").class("hint").text("The numbers refer to the causes below.");
            let (cards, rest) = broken.split_at(broken.len().min(CARDS));
            list("matrix", "Clients that break", (cards, true), run, plan, html);
            if !rest.is_empty() {
                list("matrix chips", "More clients that break", (rest, false), run, plan, html);
            }
        }
        others(run, plan, broken.is_empty(), html);
    });
}

fn others(run: &Run, plan: &Plan, is_open: bool, html: &mut Html) {
    let unmeasured = (ClientState::NotMeasured, run.clients_that_are(ClientState::NotMeasured));
    let all =
        run.other_clients().into_iter().chain([unmeasured].into_iter().filter(|(_, of)| !of.is_empty()));
    let all: Vec<_> = all.map(|(state, clients)| (state, clients, mark(state))).collect();
    html.tag("details").class("more").set_if(is_open, "open").inside(|html| {
        let counts =
            all.iter().map(|(_, clients, (.., word))| format!("{} {word}", number(clients.len() as u64)));
        html.tag("summary").text(&counts.collect::<Vec<_>>().join(" · "));
        for (state, clients, (class, sign, word)) in &all {
            html.tag("p").class("legend").inside(|html| {
                html.tag("b").class(class).set("aria-hidden", true).text(sign);
                html.text(" ");
                html.text(state.words());
            });
            list("matrix chips", &format!("Clients that are {word}"), (clients, false), run, plan, html);
        }
    });
}

/// The class of a state, its sign, and its name in a few words.
const fn mark(state: ClientState) -> (&'static str, &'static str, &'static str) {
    match state {
        ClientState::Fails => ("bad", "✗", "fails"),
        ClientState::Wrong => ("bad", "≠", "wrong"),
        ClientState::ReportedBroken => ("idle", "!", "broken as users report"),
        ClientState::PassesOn => ("idle", "→", "passes on"),
        ClientState::Reports => ("good", "✓", "reports"),
        ClientState::Unaffected => ("good", "✓", "unaffected"),
        ClientState::NotMeasured => ("idle", "?", "not measured"),
    }
}

fn list(
    class: &str,
    label: &str,
    (clients, has_failure): (&[&ClientTotal], bool),
    run: &Run,
    plan: &Plan,
    html: &mut Html,
) {
    html.tag("ul").class(class).set("aria-label", label).inside(|html| {
        for client in clients {
            one(client, has_failure, run, plan, html);
        }
    });
}

fn one(client: &ClientTotal, has_failure: bool, run: &Run, plan: &Plan, html: &mut Html) {
    let (class, sign, word) = mark(client.state);
    let title = match client.state {
        state if state.is_broken() => String::new(),
        ClientState::NotMeasured => client.why_unknown(),
        state => state.words().to_owned(),
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
        if client.state.is_broken() {
            html.tag("p").class("by").inside(|html| {
                causes(client, run, plan, html);
                if let Some(first) = client.rules.first().filter(|_| has_failure) {
                    let why = html.tag("span").class("why").set("title", &first.failure);
                    why.inside(|html| inline(&first.failure, html));
                }
            });
        }
    });
}

fn listed_causes(client: &ClientTotal, run: &Run) -> BTreeSet<usize> {
    let breaks = |(_, cause): &(usize, &Cause)| cause.clients.contains(&client.name);
    run.causes.iter().enumerate().filter(breaks).map(|(at, _)| run.listed_as(at)).collect()
}

fn causes(client: &ClientTotal, run: &Run, plan: &Plan, html: &mut Html) {
    let own = listed_causes(client, run);
    for at in own.iter().copied().take(CAUSES) {
        let (Some(id), Some(cause)) = (plan.causes.get(at), run.causes.get(at)) else { continue };
        let link = html.tag("a").link(id).set("title", format!("{}: {}", cause.rule, cause.message));
        link.inside(|html| {
            html.tag("span").class("unseen").text("cause ");
            html.text(&number(at as u64 + 1));
        });
    }
    let more = own.len().saturating_sub(CAUSES);
    if more > 0 {
        html.tag("span").class("more-causes").text(&format!("+{more}"));
    }
}
