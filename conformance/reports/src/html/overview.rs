//! The run as a whole.

use std::collections::BTreeSet;

use super::super::human;
use super::finding::{place, rule_id};
use super::page::Html;
use super::rules::inline;
use super::streams::{Shown, case_id, mark};
use super::{class_of, counted, look, number, section, table, word};
use results::{ClientState, LiveReport, Matrix, OTHER_RULES, ProfileState, Run, Tally, Verdict};

/// So many names are told of what there may be very many of.
const NAMES: usize = 12;

/// What was tested, and what came of it.
pub(super) fn title(run: &Run, html: &mut Html) {
    html.tag("p").class("kicker").text("Responses API conformance");
    html.tag("h1").inside(|html| {
        html.tag("span").class(&format!("outcome {}", class_of(run.outcome))).text(word(run.outcome));
        html.text(" ");
        html.tag("span").class("subject").text(
            run.live
                .as_ref()
                .map_or_else(|| counted(run.totals.captures, "recording"), |live| live.target.clone())
                .as_str(),
        );
    });
    html.tag("dl").class("facts").inside(|html| {
        let mut fact = |name: &str, value: &str| {
            html.tag("div").inside(|html| {
                html.tag("dt").text(name);
                html.tag("dd").text(value);
            });
        };
        fact("dialect", &run.dialect);
        if let Some(live) = &run.live {
            fact("model", &live.model);
        }
        fact("suite", &run.suite);
    });
    tiles(run, html);
    html.tag("nav").set("aria-label", "Sections").inside(|html| {
        let has_live = run.live.is_some();
        let has_profiles = run.live.as_ref().is_some_and(|live| !live.profiles.is_empty());
        let last = if has_live { ("scenarios", "Scenarios") } else { ("recordings", "Recordings") };
        let all = [
            (has_profiles, ("profiles", "Profiles")),
            (has_live, ("results", "Results")),
            (true, ("clients", "Clients")),
            (true, ("found", "Findings")),
            (!run.next.is_empty(), ("next", "Next")),
            (true, last),
            (is_any_broken(run), ("rules", "Rules")),
        ];
        for (_, (id, name)) in all.into_iter().filter(|(is_there, _)| *is_there) {
            html.tag("a").link(id).text(name);
        }
    });
}

pub(super) fn is_any_broken(run: &Run) -> bool {
    run.rules.iter().any(|rule| rule.times > 0)
}

fn tiles(run: &Run, html: &mut Html) {
    let totals = &run.totals;
    html.tag("ul").class("tiles").inside(|html| {
        let mut tile = |class: &str, count: u64, what: &str| {
            let class = if count == 0 { "tile none".to_owned() } else { format!("tile {class}") };
            html.tag("li").class(&class).inside(|html| {
                html.tag("b").text(&number(count));
                html.tag("span").text(what);
            });
        };
        if run.live.is_some() {
            for verdict in Verdict::ALL {
                let (class, word) = look(verdict);
                let count = totals.trials.of(verdict);
                if count > 0 || verdict != Verdict::HarnessError {
                    let what = if verdict == Verdict::HarnessError { "harness errors" } else { word };
                    tile(class, count, what);
                }
            }
        }
        tile("", totals.streams, "streams");
        tile("", totals.events, "events");
        tile("error", totals.errors, "errors");
        tile("warning", totals.warnings, "warnings");
        tile("note", totals.notes, "notes");
        let unanswered = run.unanswered().iter().map(|(_, count, _)| count).sum();
        if unanswered > 0 {
            tile("unknown", unanswered, "requests without an answer");
        }
        if totals.unread > unanswered {
            tile("unknown", totals.unread - unanswered, "could not be read");
        }
        if totals.unjudged > 0 {
            tile("unknown", totals.unjudged, "read by no rule");
        }
    });
}

fn profiles(run: &Run, live: &LiveReport, html: &mut Html) {
    if live.profiles.is_empty() {
        return;
    }
    section("profiles", "Profiles", html, |html| {
        let head = ["profile", "what came of it"];
        table("clients", "What came of each profile", &head, html, |html| {
            for profile in &live.profiles {
                html.tag("tr").inside(|html| {
                    html.tag("th").set("scope", "row").inside(|html| {
                        html.text(&profile.name);
                        html.tag("span").class("title").text(&format!("version {}", profile.version));
                    });
                    html.tag("td").inside(|html| {
                        // What is in the way is told plainly: only how it ended has a colour.
                        let words = profile.words();
                        let (state, rest) = words.split_once(": ").unwrap_or((&words, ""));
                        let class = format!("state {}", of_state(profile.state));
                        html.tag("span").class(&class).text(state);
                        html.text(if rest.is_empty() { "" } else { " " });
                        html.text(rest);
                    });
                });
            }
        });
        matrix(&run.matrix, html);
    });
}

/// What came of all that profiles demand.
fn matrix(matrix: &Matrix, html: &mut Html) {
    if matrix.profiles.is_empty() {
        return;
    }
    let caption = "How many of its scenarios, and of its rules, are as a profile demands";
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

const fn of_state(state: ProfileState) -> &'static str {
    match state {
        ProfileState::Passed => "good",
        ProfileState::Failed => "bad",
        ProfileState::Incomplete => "unknown",
        ProfileState::NotApplicable => "none",
    }
}

/// How many ended how.
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
    section("speed", "How fast, when asked at once", html, |html| {
        html.tag("p").class("hint").text("Half of them, and 99 of 100 in brackets.");
        html.tag("ul").inside(|html| {
            for latency in live.crowds() {
                html.tag("li").text(&format!("{}: {}", latency.case, latency.words()));
            }
        });
    });
}

/// All but what was asked.
pub(super) fn sections(run: &Run, html: &mut Html) {
    if let Some(live) = &run.live {
        profiles(run, live, html);
        section("results", "Results", html, |html| {
            groups(run, html);
            html.tag("details").class("more").inside(|html| {
                html.tag("summary").text("Every test");
                grid(live, html);
            });
            stale(run, html);
            undecided(run, html);
        });
        speed(live, html);
    }
    section("clients", "Clients", html, |html| clients(run, html));
    section("found", "Findings", html, |html| rules(run, html));
    next(run, html);
}

/// How tests ended, by the group of their scenario.
fn groups(run: &Run, html: &mut Html) {
    let head = ["scenarios", "passed", "failed", "not exercised", "harness errors"];
    table("groups", "Tests by group of scenarios", &head, html, |html| {
        for group in &run.groups {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").text(&group.name);
                for verdict in Verdict::ALL {
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

/// Every scenario with each of its tests.
fn grid(live: &LiveReport, html: &mut Html) {
    let about = live.cases.iter().flat_map(|case| case.trials.iter().map(|told| case.about(told)));
    let columns: BTreeSet<&str> = about.collect();
    let mut columns: Vec<&str> = columns.into_iter().collect();
    // What is not in a group of its own comes last.
    columns.sort_by_key(|name| (*name != "answer", *name == OTHER_RULES, *name));
    let mut head = vec!["scenario"];
    head.extend(&columns);
    table("grid", "Every test", &head, html, |html| {
        for (at, case) in live.cases.iter().enumerate() {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").inside(|html| {
                    html.tag("a").link(&case_id(at)).text(&case.name);
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

/// What was expected to fail, and does not.
fn stale(run: &Run, html: &mut Html) {
    if run.stale().is_empty() {
        return;
    }
    html.tag("h3").text("Expected to fail, and does not: take it out of the list");
    html.tag("ul").class("reasons").inside(|html| {
        for entry in run.stale() {
            html.tag("li").text(entry);
        }
    });
}

/// What could not be found out, by the reason.
fn undecided(run: &Run, html: &mut Html) {
    if run.undecided.is_empty() {
        return;
    }
    html.tag("h3").text("Not found out, and why");
    html.tag("ul").class("reasons").inside(|html| {
        for undecided in &run.undecided {
            html.tag("li").inside(|html| {
                html.tag("b").text(&format!("{}: {}", counted(undecided.trials, "test"), undecided.reason));
                html.tag("span").text(&listed(&undecided.cases));
            });
        }
    });
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(", and {} more", number(more as u64)) } else { String::new() };
    names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ") + &more
}

/// Which clients fail, and why.
fn clients(run: &Run, html: &mut Html) {
    let failing = run.failing_clients();
    if !failing.is_empty() {
        table("clients", "Clients that fail", &["client", "fails on", "because"], html, |html| {
            for client in failing {
                html.tag("tr").inside(|html| {
                    let names: Vec<String> = client.clients.iter().map(|client| client.named()).collect();
                    html.tag("th").set("scope", "row").text(&names.join(", "));
                    html.tag("td").class("count").text(&counted(client.captures, "recording"));
                    html.tag("td").inside(|html| {
                        html.tag("ul").class("because").inside(|html| {
                            for broken in client.rules.iter().take(4) {
                                html.tag("li").inside(|html| {
                                    html.tag("a").link(&rule_id(&broken.rule)).text(&broken.rule);
                                    html.text(": ");
                                    inline(&broken.failure, html);
                                });
                            }
                            if client.rules.len() > 4 {
                                html.tag("li").text(&format!("and {} more rules", client.rules.len() - 4));
                            }
                        });
                    });
                });
            }
        });
    }
    for (state, words) in [
        (ClientState::NotAffected, "Not affected, tried with streams that break these rules: "),
        (ClientState::NotMeasured, "Not measured: "),
    ] {
        let names: Vec<String> = run.clients_that_are(state).iter().map(|client| client.named()).collect();
        if !names.is_empty() {
            html.tag("p").class("hint").inside(|html| {
                html.tag("b").text(words);
                html.text(&names.join(", "));
            });
        }
    }
}

/// The rules that are broken, and where first.
fn rules(run: &Run, html: &mut Html) {
    let shown = Shown::of(run);
    let broken = run.broken();
    if broken.is_empty() {
        html.tag("p")
            .text(&format!("{} were checked, and none is broken.", counted(run.rules.len() as u64, "rule")));
        return;
    }
    table("rules", "Broken rules", &["level", "rule", "times", "first"], html, |html| {
        for rule in broken {
            let word = human::word(rule.worst);
            html.tag("tr").inside(|html| {
                html.tag("td").inside(|html| html.tag("span").class(&format!("level {word}")).text(word));
                html.tag("th").set("scope", "row").inside(|html| {
                    html.tag("a").link(&rule_id(&rule.id)).text(&rule.id);
                    html.tag("span").class("title").inside(|html| inline(&rule.title, html));
                });
                let captures = counted(rule.captures, "recording");
                html.tag("td").class("count").text(&format!("{} in {captures}", number(rule.times)));
                html.tag("td").inside(|html| {
                    let Some((capture, found)) = run.first(rule) else { return };
                    match rule.first.and_then(|at| shown.link(at)) {
                        Some(id) => html.tag("a").link(&id).text(&capture.path()),
                        None => html.tag("span").text(&capture.path()),
                    }
                    html.tag("span").class("title").text(&place(&found.place));
                });
            });
        }
    });
    if run.totals.omitted > 0 {
        let more = counted(run.totals.omitted, "fault");
        html.tag("p").class("hint").text(&format!("{more} beyond those that are listed"));
    }
}

/// What to do, with commands to copy.
fn next(run: &Run, html: &mut Html) {
    if run.next.is_empty() {
        return;
    }
    section("next", "Next", html, |html| {
        html.tag("ul").class("reasons").inside(|html| {
            for step in &run.next {
                html.tag("li").inside(|html| {
                    html.tag("b").text(&step.why);
                    html.tag("code").text(&step.command);
                });
            }
        });
    });
}

/// How the run was made.
pub(super) fn footer(run: &Run, html: &mut Html) {
    if let Some(live) = &run.live {
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text("How the run was made");
            html.tag("dl").class("options").inside(|html| {
                let options = serde_json::to_value(&live.options).unwrap_or_default();
                for (name, value) in options.as_object().into_iter().flatten() {
                    html.tag("div").inside(|html| {
                        html.tag("dt").text(&name.replace('_', " "));
                        html.tag("dd").text(&match value {
                            serde_json::Value::Null => "–".to_owned(),
                            serde_json::Value::Array(list) if list.is_empty() => "–".to_owned(),
                            other => other.to_string(),
                        });
                    });
                }
            });
        });
    }
    let text = format!("conformance {}, format {} · dialect {}", run.suite, run.version, run.dialect);
    html.tag("p").text(&text);
}
