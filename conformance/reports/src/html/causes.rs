//! Causes, in the order of their harm.

use super::super::human;
use super::finding::{about, rule_id};
use super::page::Html;
use super::plan::Plan;
use super::rules::inline;
use super::{counted, number, section};
use results::{Cause, Run};

/// Maximum number of causes, and of those that are expanded.
const CAUSES: usize = 200;
const OPEN: usize = 1;
/// Maximum number of scenarios of a cause.
const MAX_CASES: usize = 24;

/// Writes the causes of a run.
pub(super) fn causes(run: &Run, plan: &Plan, html: &mut Html) {
    section("findings", "Findings", html, |html| {
        if run.causes.is_empty() {
            let rules = counted(run.rules.len() as u64, "rule");
            html.tag("p").class("hint").text(&format!("None. {rules} were checked."));
            return;
        }
        html.tag("p")
            .class("hint")
            .text("Each cause is listed once; those that break the most clients come first.");
        for (at, cause) in run.causes.iter().enumerate().take(CAUSES) {
            one(run, plan, (at, cause), html);
        }
        if run.causes.len() > CAUSES {
            let more = counted((run.causes.len() - CAUSES) as u64, "more cause");
            html.tag("p").class("hint").text(&format!("and {more}, listed in the JSON report"));
        }
        if run.totals.omitted > 0 {
            let more = counted(run.totals.omitted, "violation");
            html.tag("p").class("hint").text(&format!("{more} beyond those that are listed"));
        }
    });
}

fn one(run: &Run, plan: &Plan, (at, cause): (usize, &Cause), html: &mut Html) {
    let word = human::word(cause.level);
    let Some(id) = plan.causes.get(at) else { return };
    let details = html.tag("details").class(&format!("cause finding {word}"));
    let details =
        details.set("data-find", format!("{} {} {}", cause.rule, cause.message, cause.clients.join(" ")));
    details.set_if(at < OPEN, "open").inside(|html| {
        html.tag("summary").inside(|html| {
            html.tag("span").class("number").text(&number(at as u64 + 1));
            html.tag("span").class("message").text(&cause.message);
            html.tag("span").class("under").inside(|html| {
                html.tag("span").class("level").text(word);
                html.tag("code").text(&cause.rule);
                html.tag("span").class("seen").text(&seen(run, cause));
                if !cause.clients.is_empty() {
                    let clients = counted(cause.clients.len() as u64, "client");
                    html.tag("span").class("breaks").text(&format!("breaks {clients}"));
                }
            });
        });
        html.tag("div").class("about").set("id", id).inside(|html| inside(run, plan, cause, id, html));
    });
}

/// Returns the number of findings and recordings of a cause.
fn seen(run: &Run, cause: &Cause) -> String {
    let (what, all) = match &run.live {
        Some(_) => ("response", run.totals.streams + run.totals.bodies),
        None => ("recording", run.totals.captures),
    };
    let all = counted(all.max(cause.captures), what);
    format!("{} in {} of {all}", counted(cause.times, "time"), number(cause.captures))
}

fn inside(run: &Run, plan: &Plan, cause: &Cause, id: &str, html: &mut Html) {
    let Some((capture, finding)) = run.first_of(cause) else { return };
    if let Some(fix) = finding.fix() {
        html.tag("p").class("fix").inside(|html| {
            html.tag("b").text("Fix");
            html.text(" ");
            inline(&fix, html);
        });
    }
    html.tag("p").class("place").inside(|html| {
        html.text("First in ");
        match plan.link(cause.first) {
            Some(link) => html.tag("a").link(link).text(&capture.path()),
            None => html.tag("span").text(&capture.path()),
        }
    });
    about(finding, &run.dialect, None, html);
    if let Some(curl) = &capture.curl {
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text("Reproduce with curl");
            html.tag("pre").class("command").set("tabindex", 0).inside(|html| html.tag("code").text(curl));
        });
    }
    cases(run, plan, cause, html);
    html.tag("p").class("see").inside(|html| {
        html.tag("a").link(&rule_id(&cause.rule)).text(&format!("Rule {}", cause.rule));
        html.text(" ");
        html.tag("a").class("own").link(id).set("aria-label", "Link to this finding").text("¶");
    });
}

/// Writes the scenarios of a cause.
fn cases(run: &Run, plan: &Plan, cause: &Cause, html: &mut Html) {
    let Some(live) = run.live.as_ref().filter(|_| !cause.cases.is_empty()) else { return };
    html.tag("p").class("cases").inside(|html| {
        html.tag("b").text(&counted(cause.cases.len() as u64, "scenario"));
        for name in cause.cases.iter().take(MAX_CASES) {
            html.text(" ");
            let at = live.cases.iter().position(|case| case.name == *name);
            match at.and_then(|at| plan.cases.get(at)) {
                Some(id) => html.tag("a").link(id).text(name),
                None => html.tag("span").text(name),
            }
        }
        if cause.cases.len() > MAX_CASES {
            html.tag("span").text(&format!(" and {} more", number((cause.cases.len() - MAX_CASES) as u64)));
        }
    });
}
