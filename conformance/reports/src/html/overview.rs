//! The run as a whole.

use std::collections::BTreeSet;

use super::finding::rule_id;
use super::head::fact;
use super::page::Html;
use super::plan::Plan;
use super::streams::mark;
use super::{duration, look, number, section, table, untested};
use serde_json::Value;

use results::{
    Demand, LiveReport, Matrix, OTHER_RULES, ProfileReport, ProfileState, Run, Step, Tally, Verdict,
};

/// Maximum number of names in a list that can be long.
const NAMES: usize = 12;

fn profiles(run: &Run, live: &LiveReport, plan: &Plan, html: &mut Html) {
    if live.profiles.is_empty() {
        return;
    }
    section("profiles", "Profiles", html, |html| {
        table("profiles", "Result of each profile", &["profile", "result", "because of"], html, |html| {
            for profile in &live.profiles {
                html.tag("tr").inside(|html| {
                    html.tag("th").set("scope", "row").text(&profile.name);
                    let class = format!("state {}", of_state(profile.state));
                    html.tag("td").class(&class).text(profile.state.name());
                    html.tag("td").inside(|html| because(profile, (run, live), plan, html));
                });
            }
        });
        matrix(&run.matrix, html);
    });
}

fn because(profile: &ProfileReport, (run, live): (&Run, &LiveReport), plan: &Plan, html: &mut Html) {
    // Only broken rules have an entry in this report.
    let is_broken = |name: &str| run.rules.iter().any(|rule| rule.id == name && rule.times > 0);
    // Failures come before requirements that were not exercised.
    let is_due = |verdict| profile.state != ProfileState::Failed || verdict == Verdict::Fail;
    let mut seen = BTreeSet::new();
    let due = profile.reasons.iter().filter(|reason| is_due(reason.verdict));
    let due: Vec<_> = due.filter(|reason| seen.insert((&reason.name, &reason.reason))).collect();
    let mut names = BTreeSet::new();
    let due: Vec<_> =
        due.into_iter().filter(|reason| reason.name.is_empty() || names.insert(&reason.name)).collect();
    let links = due.iter().map(|reason| {
        let id = match reason.demand {
            Demand::Run | Demand::Case | Demand::Feature => None,
            Demand::Rule => Some(rule_id(&reason.name)).filter(|_| is_broken(&reason.name)),
            Demand::Scenario => {
                let at = live.cases.iter().position(|case| case.name == reason.name);
                at.and_then(|at| plan.cases.get(at).cloned())
            }
        };
        (id, if reason.name.is_empty() { &*reason.reason } else { &*reason.name })
    });
    linked(&links.collect::<Vec<_>>(), html);
}

pub(crate) fn linked(all: &[(Option<String>, &str)], html: &mut Html) {
    for (at, (id, name)) in all.iter().take(NAMES).enumerate() {
        html.text(if at > 0 { ", " } else { "" });
        match id {
            Some(id) => html.tag("a").link(id).text(name),
            None => html.text(name),
        }
    }
    if all.len() > NAMES {
        html.text(&format!(", and {} more", number((all.len() - NAMES) as u64)));
    }
}

fn matrix(matrix: &Matrix, html: &mut Html) {
    if matrix.profiles.is_empty() {
        return;
    }
    let caption = "Scenarios and rules that meet each profile";
    html.tag("h3").text(caption);
    let mut head = vec!["group"];
    head.extend(matrix.profiles.iter().map(|profile| profile.name.as_str()));
    table("demands", caption, &head, html, |html| {
        let mut row = |name: &str, cells: &mut dyn Iterator<Item = Option<Tally>>| {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").text(name);
                for tally in cells {
                    html.tag("td").inside(|html| counts(tally.unwrap_or_default(), html));
                }
            });
        };
        for group in &matrix.groups {
            row(&group.name, &mut group.cells.iter().copied());
        }
        row("rules", &mut matrix.profiles.iter().map(|profile| Some(profile.rules)));
    });
}

pub(crate) const fn of_state(state: ProfileState) -> &'static str {
    match state {
        ProfileState::Passed => "good",
        ProfileState::Failed => "bad",
        ProfileState::Incomplete => "unknown",
        ProfileState::NotApplicable => "none",
    }
}

fn counts(tally: Tally, html: &mut Html) {
    for verdict in Verdict::ALL.into_iter().filter(|verdict| tally.of(*verdict) > 0) {
        let (class, word) = look(verdict);
        html.tag("span").class(class).inside(|html| {
            html.text(&number(tally.of(verdict)));
            mark(class, verdict.sign(), word, html);
        });
        html.text(" ");
    }
}

fn speed(live: &LiveReport, html: &mut Html) {
    if live.crowds().next().is_none() {
        return;
    }
    section("speed", "Latency of concurrent requests", html, |html| {
        html.tag("p").class("hint").text("Median, and the 99th percentile in brackets.");
        html.tag("ul").inside(|html| {
            for latency in live.crowds() {
                html.tag("li").text(&format!("{}: {}", latency.case, latency.words()));
            }
        });
    });
}

/// Profiles, results by group, and what to do next.
pub(super) fn sections(run: &Run, plan: &Plan, html: &mut Html) {
    if let Some(live) = &run.live {
        profiles(run, live, plan, html);
        section("results", "Results", html, |html| {
            groups(run, html);
            html.tag("details").class("more").inside(|html| {
                html.tag("summary").text("Every test");
                grid(live, plan, html);
            });
            stale(run.stale(), html);
            untested::untested(run, live, html);
        });
        speed(live, html);
    }
    next(&run.next, html);
}

fn groups(run: &Run, html: &mut Html) {
    // Columns of zeros are omitted, except for passed tests.
    let is_shown = |verdict: &Verdict| {
        *verdict == Verdict::Pass || run.groups.iter().any(|group| group.trials.of(*verdict) > 0)
    };
    let verdicts: Vec<Verdict> = Verdict::ALL.into_iter().filter(is_shown).collect();
    let head = verdicts.iter().map(|verdict| match verdict {
        Verdict::HarnessError => "harness errors",
        other => other.word(),
    });
    let head: Vec<&str> = std::iter::once("scenarios").chain(head).collect();
    table("groups", "Tests by group of scenarios", &head, html, |html| {
        for group in &run.groups {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").text(&group.name);
                for verdict in verdicts.iter().copied() {
                    let count = group.trials.of(verdict);
                    let class = if count == 0 { "none" } else { look(verdict).0 };
                    html.tag("td").class(class).inside(|html| {
                        if count > 0 {
                            html.tag("span").set("aria-hidden", true).text(&format!("{} ", verdict.sign()));
                        }
                        html.text(&number(count));
                    });
                }
            });
        }
    });
}

fn grid(live: &LiveReport, plan: &Plan, html: &mut Html) {
    let about = live.cases.iter().flat_map(|case| case.trials.iter().map(|told| case.about(told)));
    let columns: BTreeSet<&str> = about.collect();
    let mut columns: Vec<&str> = columns.into_iter().collect();
    // Trials without a group come last.
    columns.sort_by_key(|name| (*name != "answer", *name == OTHER_RULES, *name));
    let mut head = vec!["scenario"];
    head.extend(&columns);
    table("grid", "Every test", &head, html, |html| {
        for (at, case) in live.cases.iter().enumerate() {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").inside(|html| match plan.cases.get(at) {
                    Some(id) => html.tag("a").link(id).text(&case.name),
                    None => html.text(&case.name),
                });
                for column in &columns {
                    let told = case.trials.iter().find(|told| case.about(told) == *column);
                    let Some(told) = told else {
                        html.tag("td").text("");
                        continue;
                    };
                    let (class, word) = look(told.judged.verdict);
                    let title = format!("{}: {}", told.name, told.judged);
                    html.tag("td").class(class).set("title", title).inside(|html| {
                        html.tag("span").set("aria-hidden", true).text(told.judged.verdict.sign());
                        html.tag("span").class("unseen").text(word);
                    });
                }
            });
        }
    });
}

pub(crate) fn stale(entries: &[String], html: &mut Html) {
    if entries.is_empty() {
        return;
    }
    html.tag("h3").text("Unexpectedly passing: remove these from the list");
    html.tag("ul").class("reasons").inside(|html| {
        for entry in entries {
            html.tag("li").text(entry);
        }
    });
}

pub(crate) fn next(steps: &[Step], html: &mut Html) {
    if steps.is_empty() {
        return;
    }
    section("next", "Next", html, |html| {
        html.tag("ul").class("reasons").inside(|html| {
            for step in steps {
                html.tag("li").inside(|html| {
                    html.tag("b").text(&step.why);
                    html.tag("code").text(&step.command);
                });
            }
        });
    });
}

pub(super) fn footer(run: &Run, html: &mut Html) {
    if let Some(live) = &run.live {
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text("Options of the run");
            html.tag("dl").class("options").inside(|html| {
                let options = serde_json::to_value(&live.options).unwrap_or_default();
                // The head states the changed levels.
                let options = options.as_object().into_iter().flatten().filter(|(name, _)| *name != "levels");
                for (name, value) in options {
                    let (name, value) = option(name, value);
                    fact(&name, &value, html);
                }
            });
        });
    }
    let text =
        format!("conformance {}, format {} · dialect {}", run.suite, run.version, run.dialect_in_words());
    html.tag("p").text(&text);
}

fn option(name: &str, value: &Value) -> (String, String) {
    let words = |name: &str| name.replace('_', " ");
    if let (Some(name), Some(ms)) = (name.strip_suffix("_ms"), value.as_u64()) {
        return (words(name), duration(ms));
    }
    let text = match value {
        Value::Null => "–".to_owned(),
        Value::Bool(is_set) => (if *is_set { "yes" } else { "no" }).to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "–".to_owned(),
        Value::Array(list) => {
            let names = list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
            names.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    (words(name), text)
}
