//! Causes, in the order of their harm.

use super::super::human;
use super::super::impact::{in_all, in_run};
use super::super::terms::{harm, reason};
use super::finding::{about, fix, rule_id};
use super::page::Html;
use super::plan::Plan;
use super::{counted, number, section};
use results::{CaseReport, Cause, LiveReport, Run};

/// Maximum number of causes, and of those that are expanded.
const CAUSES: usize = 200;
const OPEN: usize = 1;
/// Maximum number of clients that are named where they were not played.
const CLIENTS: usize = 40;
/// Maximum number of scenarios of a cause.
const MAX_CASES: usize = 24;

const ORDER: &str = "Each cause is listed once, in the order in which to mend them: from the status of the response \
                     to the properties of events, and then by the number of clients that break.";

pub(super) fn causes(run: &Run, plan: &Plan, html: &mut Html) {
    let causes = run.own_causes();
    section("causes", "Causes", html, |html| {
        if causes.is_empty() {
            let rules = counted(run.rules.len() as u64, "rule");
            html.tag("p").class("hint").text(&format!("No rule is broken. {rules} were checked."));
        } else {
            html.tag("p").class("hint").text(ORDER);
        }
        for (at, cause) in causes.iter().enumerate().take(CAUSES) {
            one(run, plan, (at, cause), html);
        }
        if causes.len() > CAUSES {
            let more = counted((causes.len() - CAUSES) as u64, "more cause");
            html.tag("p").class("hint").text(&format!("and {more}, listed in the JSON report"));
        }
        if run.totals.omitted > 0 {
            let more = counted(run.totals.omitted, "occurrence");
            html.tag("p").class("hint").text(&format!("{more} beyond those that are listed"));
        }
        let played = causes.iter().filter_map(|cause| cause.played.as_ref());
        for line in in_all(played, &run.not_played, CLIENTS) {
            html.tag("p").class("hint").text(&line);
        }
        answers(run, plan, html);
    });
}

/// No rule says why responses are not as requested.
fn answers(run: &Run, plan: &Plan, html: &mut Html) {
    let (Some(live), answers) = (&run.live, run.wrong_answers()) else { return };
    if answers.is_empty() {
        return;
    }
    html.tag("h3").text("Unexpected responses");
    for (reason, tests) in answers {
        let tested = |case: &&CaseReport| case.trials.iter().any(|told| tests.contains(&told.name.as_str()));
        let cases: Vec<&CaseReport> = live.cases.iter().filter(tested).collect();
        let details = html.tag("details").class("cause finding error");
        details.set("data-find", format!("{reason} {}", tests.join(" "))).inside(|html| {
            html.tag("summary").inside(|html| {
                html.tag("span").class("number").text("");
                html.tag("span").class("message").text(reason);
                html.tag("span").class("under").inside(|html| {
                    html.tag("span").class("level").text("failed");
                    html.tag("span").class("seen").text(&counted(tests.len() as u64, "test"));
                });
            });
            html.tag("div").class("about").inside(|html| {
                let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
                scenarios(live, plan, &names, html);
                let first = cases.iter().find_map(|case| case.recordings(run).last());
                if let Some(curl) = first.and_then(|capture| capture.curl.as_deref()) {
                    reproduce(curl, html);
                }
            });
        });
    }
}

pub(super) fn reproduce(curl: &str, html: &mut Html) {
    html.tag("details").class("more").inside(|html| {
        html.tag("summary").text("Reproduce with curl");
        html.tag("pre").class("command").set("tabindex", 0).inside(|html| html.tag("code").text(curl));
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
                if let Some(harm) = harm(cause) {
                    html.tag("span").class("breaks").text(&harm);
                }
            });
        });
        html.tag("div").class("about").set("id", id).inside(|html| inside(run, plan, cause, id, html));
    });
}

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
    if let Some(fix) = &cause.fix {
        self::fix(fix, html);
    }
    if let Some(reason) = reason(cause) {
        html.tag("p").class("fails").inside(|html| {
            html.tag("b").text("Fails");
            html.text(" ");
            html.text(reason);
        });
    }
    html.tag("p").class("place").inside(|html| {
        html.text("First in ");
        match plan.link(cause.first) {
            Some(link) => html.tag("a").link(link).text(&run.name(capture)),
            None => html.tag("span").text(&run.name(capture)),
        }
    });
    played(&in_run(run, cause), html);
    about(finding, run.dialect_of(finding), None, html);
    effects(run, plan, cause, html);
    if let Some(curl) = &capture.curl {
        reproduce(curl, html);
    }
    if let Some(live) = run.live.as_ref().filter(|_| !cause.cases.is_empty()) {
        scenarios(live, plan, &cause.cases, html);
    }
    html.tag("p").class("see").inside(|html| {
        html.tag("a").link(&rule_id(&cause.rule)).text(&format!("Rule {}", cause.rule));
        html.text(" ");
        html.tag("a").class("own").link(id).set("aria-label", "Link to this cause").text("¶");
    });
}

pub(crate) fn played(lines: &[String], html: &mut Html) {
    if lines.is_empty() {
        return;
    }
    html.tag("p").inside(|html| html.tag("b").text("Played to clients"));
    html.tag("ul").class("effects").inside(|html| {
        for line in lines {
            html.tag("li").text(line);
        }
    });
}

fn effects(run: &Run, plan: &Plan, cause: &Cause, html: &mut Html) {
    let effects: Vec<&Cause> = run.effects(cause).collect();
    if effects.is_empty() {
        return;
    }
    html.tag("details").class("more").inside(|html| {
        html.tag("summary").text(&format!("{} of it", counted(effects.len() as u64, "effect")));
        html.tag("ul").class("effects").inside(|html| {
            for effect in effects {
                html.tag("li").inside(|html| {
                    match plan.link(effect.first) {
                        Some(link) => {
                            html.tag("a").link(link).inside(|html| html.tag("code").text(&effect.rule));
                        }
                        None => html.tag("code").text(&effect.rule),
                    }
                    html.text(&format!(" {}: {}", counted(effect.times, "time"), effect.message));
                });
            }
        });
    });
}

fn scenarios(live: &LiveReport, plan: &Plan, names: &[String], html: &mut Html) {
    html.tag("p").class("cases").inside(|html| {
        html.tag("b").text(&counted(names.len() as u64, "scenario"));
        for name in names.iter().take(MAX_CASES) {
            html.text(" ");
            let at = live.cases.iter().position(|case| case.name == *name);
            match at.and_then(|at| plan.cases.get(at)) {
                Some(id) => html.tag("a").link(id).text(name),
                None => html.tag("span").text(name),
            }
        }
        if names.len() > MAX_CASES {
            html.tag("span").text(&format!(" and {} more", number((names.len() - MAX_CASES) as u64)));
        }
    });
}
