//! The run as a whole.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use spec::catalogue;

use super::super::human;
use super::super::run::{LiveReport, Run, Told, Verdict};
use super::finding::{place, rule_id};
use super::page::Html;
use super::rules::inline;
use super::streams::{Shown, case_id};
use super::{class_of, counted, look, number, section, table, word};

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
            (has_live, ("results", "Results")),
            (has_profiles, ("profiles", "Profiles")),
            (true, ("clients", "Clients")),
            (true, ("found", "Findings")),
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
        if let Some(live) = &run.live {
            for verdict in [Verdict::Pass, Verdict::Fail, Verdict::NotExercised, Verdict::HarnessError] {
                let (class, _, word) = look(verdict);
                let count = trials(live).filter(|told| told.judged.verdict == verdict).count() as u64;
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
        if totals.unread > 0 {
            tile("unknown", totals.unread, "could not be read");
        }
        if totals.unjudged > 0 {
            tile("unknown", totals.unjudged, "answers that no rule reads");
        }
    });
}

fn trials(live: &LiveReport) -> impl Iterator<Item = &Told> {
    live.cases.iter().flat_map(|case| &case.trials)
}

fn profiles(live: &LiveReport, html: &mut Html) {
    if live.profiles.is_empty() {
        return;
    }
    section("profiles", "Profiles", html, |html| {
        table(
            "clients",
            "What came of each profile",
            &["profile", "version", "what came of it"],
            html,
            |html| {
                for profile in &live.profiles {
                    html.tag("tr").inside(|html| {
                        html.tag("th").set("scope", "row").text(&profile.name);
                        html.tag("td").text(&profile.version.to_string());
                        html.tag("td").text(&profile.words());
                    });
                }
            },
        );
    });
}

fn speed(live: &LiveReport, html: &mut Html) {
    if live.crowds().next().is_none() {
        return;
    }
    section("speed", "How fast, when asked at once", html, |html| {
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
        section("results", "Results", html, |html| {
            groups(live, html);
            html.tag("details").class("more").inside(|html| {
                html.tag("summary").text("Every test");
                grid(live, html);
            });
            unexercised(live, html);
        });
        profiles(live, html);
        speed(live, html);
    }
    section("clients", "Clients", html, |html| clients(run, html));
    section("found", "Findings", html, |html| rules(run, html));
}

/// How tests ended, by the group of their scenario.
fn groups(live: &LiveReport, html: &mut Html) {
    let mut groups: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for case in &live.cases {
        let group = catalogue::group(&case.name);
        let counts = groups.entry(group).or_default();
        for told in &case.trials {
            let [pass, fail, idle, harness] = counts;
            *match told.judged.verdict {
                Verdict::Pass => pass,
                Verdict::Fail => fail,
                Verdict::NotExercised => idle,
                Verdict::HarnessError => harness,
            } += 1;
        }
    }
    let all = [Verdict::Pass, Verdict::Fail, Verdict::NotExercised, Verdict::HarnessError];
    let head = ["scenarios", "passed", "failed", "not exercised", "harness errors"];
    table("groups", "Tests by group of scenarios", &head, html, |html| {
        for (group, counts) in groups {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").text(group);
                for (verdict, count) in all.into_iter().zip(counts) {
                    let (class, sign, _) = look(verdict);
                    let class = if count == 0 { "none" } else { class };
                    html.tag("td").class(class).inside(|html| {
                        if count > 0 {
                            html.tag("span").set("aria-hidden", true).text(&format!("{sign} "));
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
    let short =
        |told: &Told| told.name.split_once("::").map_or(told.name.clone(), |(_, name)| name.to_owned());
    let mut columns: Vec<String> = Vec::new();
    for told in trials(live) {
        let name = short(told);
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    // What is not in a group of its own is the rest.
    columns.sort_by_key(|name| (name != "answer", name == "rest", name.clone()));
    let mut head = vec!["scenario"];
    head.extend(columns.iter().map(String::as_str));
    table("grid", "Every test", &head, html, |html| {
        for (at, case) in live.cases.iter().enumerate() {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").inside(|html| {
                    html.tag("a").link(&case_id(at)).text(&case.name);
                });
                for column in &columns {
                    let told = case.trials.iter().find(|told| short(told) == *column);
                    let Some(told) = told else {
                        html.tag("td").text("");
                        continue;
                    };
                    let (class, sign, word) = look(told.judged.verdict);
                    html.tag("td")
                        .class(class)
                        .set("title", format!("{}: {}", told.name, told.judged))
                        .inside(|html| {
                            html.tag("span").set("aria-hidden", true).text(sign);
                            html.tag("span").class("unseen").text(word);
                        });
                }
            });
        }
    });
}

/// What was not exercised, by the reason.
fn unexercised(live: &LiveReport, html: &mut Html) {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // Tests of an answer that did not come only say so.
    let own = |told: &&Told| {
        matches!(told.judged.verdict, Verdict::NotExercised | Verdict::HarnessError)
            && !told.judged.reason.starts_with("see ")
    };
    for told in trials(live).filter(own) {
        let name = told.name.strip_suffix("::answer").unwrap_or(&told.name);
        reasons.entry(&told.judged.reason).or_default().push(name);
    }
    if reasons.is_empty() {
        return;
    }
    html.tag("h3").text("Not exercised, and why");
    html.tag("ul").class("reasons").inside(|html| {
        for (reason, names) in reasons {
            html.tag("li").inside(|html| {
                html.tag("b").text(reason);
                html.tag("span").text(&listed(&names));
            });
        }
    });
}

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(", and {} more", number(more as u64)) } else { String::new() };
    names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ") + &more
}

/// Which clients fail, and why.
fn clients(run: &Run, html: &mut Html) {
    let (broken, whole): (Vec<_>, Vec<_>) = run.clients.iter().partition(|client| client.captures > 0);
    if !broken.is_empty() {
        table("clients", "Clients that fail", &["client", "fails on", "because"], html, |html| {
            for client in broken {
                html.tag("tr").inside(|html| {
                    html.tag("th").set("scope", "row").text(&client.name);
                    html.tag("td").class("count").text(&counted(client.captures, "recording"));
                    html.tag("td").inside(|html| {
                        html.tag("ul").class("because").inside(|html| {
                            for broken in client.rules.iter().take(4) {
                                html.tag("li").inside(|html| {
                                    html.tag("a").link(&rule_id(&broken.rule)).text(&broken.rule);
                                    html.text(&format!(": {}", broken.failure));
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
    let names: Vec<&str> = whole.iter().map(|client| client.name.as_str()).collect();
    if !names.is_empty() {
        html.tag("p").class("hint").inside(|html| {
            html.tag("b").text("Nothing known breaks ");
            html.text(&names.join(", "));
        });
    }
}

/// The rules that are broken, and where first.
fn rules(run: &Run, html: &mut Html) {
    let shown = Shown::of(run);
    let mut broken: Vec<_> = run.rules.iter().filter(|rule| rule.times > 0).collect();
    // The sort is stable: what is equal stays in the order of names.
    broken.sort_by_key(|rule| Reverse((rule.worst, rule.captures, rule.times)));
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
                    let Some(at @ [capture, found]) = rule.first else { return };
                    let Some(capture) = run.captures.get(capture) else { return };
                    let Some(found) = capture.findings.get(found) else { return };
                    match shown.link(at) {
                        Some(id) => html.tag("a").link(&id).text(&capture.name),
                        None => html.tag("span").text(&capture.name),
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
