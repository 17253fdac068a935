//! The report of both ends of a gateway as a page for browsers.

use std::collections::BTreeMap;

use catalogue::Level;
use results::text::{cut, parted};
use results::{
    BetweenMoment, BetweenRun, BetweenSide, BetweenTest, LevelChange, StreamOutcome, TestCause, TestFinding,
    Verdict, cause_counts,
};

use super::super::impact::{in_all, in_between};
use super::super::sheet::files;
use super::super::sheet::rule::{RulePage, first_difference, of_pair, sides, window};
use crate::html::causes::played;
use crate::html::finding::fix;
use crate::html::head::{command, fact, heading, meter, sections};
use crate::html::overview::{next as steps, stale};
use crate::html::rules::{inline, prose, quoted};
use crate::html::streams::mark;
use crate::html::{Html, SCRIPT, counted, document, duration, number, row_of_counts, section, table, word};

/// Maximum number of causes with an example.
const CAUSES: usize = 200;
/// Maximum number of tests that a cause names.
const TESTS: usize = 40;
/// Maximum number of characters of a side.
const SIDE: usize = 4000;
/// Maximum number of characters of a text in a table.
const CELL: usize = 600;
/// Maximum number of rows of a timeline.
const MOMENTS: usize = 100;
/// Maximum number of changed levels.
const LEVELS: usize = 12;

pub(super) fn html(run: &BetweenRun) -> String {
    let title = format!("{}: both ends of {}", word(run.outcome), run.gateway);
    let next = run.next();
    let causes = run.causes.len();
    let failing = run.causes.iter().filter(|cause| cause.fails).count();
    let failed = run.tests.iter().filter(|test| test.has_failed()).count();
    let limits = run.limits();
    let shown = run.causes.iter().take(CAUSES).rev();
    let rules: BTreeMap<&str, RulePage> =
        shown.filter_map(|cause| Some((&*cause.rule, of_pair(&cause.rule, &cause.groups[0])?))).collect();
    document(&title, run.outcome, |html| {
        html.tag("header").inside(|html| header(run, html));
        let all = [
            (causes > 0, "causes", "Causes", failing, if failing > 0 { "bad" } else { "" }),
            (true, "pairs", "Pairs", 0, ""),
            (true, "tests", "Tests", failed, "bad"),
            (!limits.is_empty(), "limits", "Limits", 0, ""),
            (!run.unaccounted.is_empty(), "unaccounted", "Other requests", run.unaccounted.len(), "plain"),
            (!next.is_empty(), "next", "Next", 0, ""),
            (!rules.is_empty(), "rules", "Rules", 0, ""),
        ];
        sections(&all, "Search causes and tests", html);
        html.tag("main").inside(|html| {
            if causes > 0 {
                section("causes", "Causes", html, |html| {
                    for (at, cause) in run.causes.iter().take(CAUSES).enumerate() {
                        of_cause(run, cause, at, html);
                    }
                    let all = run.causes.iter().filter_map(|cause| cause.played.as_ref());
                    for line in in_all(all, &run.not_played, TESTS) {
                        html.tag("p").class("hint").text(&line);
                    }
                    if causes > CAUSES {
                        let more = counted((causes - CAUSES) as u64, "more cause");
                        html.tag("p").class("hint").text(&format!("{more} in the JSON report."));
                    }
                });
            }
            section("pairs", "Pairs of APIs", html, |html| {
                pairs(run, html);
                outcomes(run, html);
            });
            section("tests", "Tests", html, |html| {
                for pair in &run.pairs {
                    tests(run, &pair.front, &pair.upstream, html);
                }
                stale(&run.stale, html);
            });
            if !limits.is_empty() {
                section("limits", "What these APIs cannot carry", html, |html| {
                    table("rules", "Limits", &["rule", "not judged, because", "tests"], html, |html| {
                        for (rule, reason, tests) in &limits {
                            row(&[rule, reason], *tests, html);
                        }
                    });
                });
            }
            if !run.unaccounted.is_empty() {
                section("unaccounted", "Requests upstream that no test accounts for", html, |html| {
                    table("rules", "Requests", &["request", "body", "times"], html, |html| {
                        for request in &run.unaccounted {
                            row(&[&request.request, &request.body], request.times, html);
                        }
                    });
                });
            }
            steps(&next, html);
            if !rules.is_empty() {
                section("rules", "Rules", html, |html| {
                    for (rule, page) in &rules {
                        of_rule(rule, page, html);
                    }
                });
            }
        });
        html.tag("footer").inside(|html| {
            let format = run.between_run;
            html.tag("p").text(&format!("conformance {}, format {format}", run.suite));
        });
        html.script(SCRIPT);
    })
}

fn header(run: &BetweenRun, html: &mut Html) {
    let failed = run.tests.iter().filter(|test| test.has_failed()).count() as u64;
    let all = counted(run.tests.len() as u64, "test");
    let lead = match run.causes.len() {
        0 => format!("Nothing is wrong in {all}."),
        _ => format!("{}; {} of {all} fail.", cause_counts(&run.causes), number(failed)),
    };
    heading("Both ends of a gateway", run.outcome, &run.gateway, &lead, html);
    html.tag("dl").class("facts").inside(|html| {
        let mut fact = |name: &str, value: &str| fact(name, value, html);
        fact("gateway", &run.url);
        fact("model", &run.model);
        fact("fails on", run.fail_on.words());
        if !run.levels.is_empty() {
            fact("levels changed", &LevelChange::words(&run.levels, LEVELS));
        }
        fact("took", &duration(run.ms));
        fact("suite", &run.suite);
    });
    command(&run.typed.clone().unwrap_or_else(|| run.command_for(&[], &[])), html);
    html.tag("div").class("meters").inside(|html| {
        let parts = [
            (run.count(Verdict::Pass), "good", "passed"),
            (run.count(Verdict::Fail), "bad", "failed"),
            (run.count(Verdict::NotExercised), "idle", "skipped"),
            (run.count(Verdict::HarnessError), "unknown", "not judged"),
        ];
        meter("tests", run.tests.len() as u64, &parts, "", html);
        let of = |fails: bool| run.causes.iter().filter(|cause| cause.fails == fails).count() as u64;
        let parts = [(of(true), "bad", "that fail"), (of(false), "note", "that do not fail")];
        meter("causes", run.causes.len() as u64, &parts, "", html);
        let of =
            |has_failed: bool| run.pairs.iter().filter(|pair| (pair.failed > 0) == has_failed).count() as u64;
        let parts = [(of(false), "good", "without failures"), (of(true), "bad", "with failures")];
        meter("pairs", run.pairs.len() as u64, &parts, "", html);
    });
}

fn row(texts: &[&str], count: u64, html: &mut Html) {
    let texts: Vec<String> = texts.iter().map(|text| cut(text, CELL)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    row_of_counts(&texts, [(count, "count")], html);
}

const fn class(cause: &TestCause) -> &'static str {
    match (cause.fails, cause.level) {
        (true, _) => "bad",
        (false, Level::Must | Level::Should) => "unknown",
        (false, _) => "idle",
    }
}

fn id(at: usize) -> String {
    format!("cause-{}", at + 1)
}

fn rule_id(rule: &str) -> String {
    format!("rule-{rule}")
}

/// Writes a cause: its example with both sides, the recordings of both sides in time, and the tests that it fails.
fn of_cause(run: &BetweenRun, cause: &TestCause, at: usize, html: &mut Html) {
    let Some((test, finding)) = run.first_of(cause) else { return };
    let look = class(cause);
    let tag = html.tag("details").class(&format!("case {look}")).set("id", id(at));
    let find = format!("{} {} {}", cause.rule, finding.message, cause.groups.join(" "));
    tag.set("data-find", find).set_if(at == 0, "open").inside(|html| {
        html.tag("summary").inside(|html| {
            let (sign, word) = if cause.fails { ("✗", "fails") } else { ("!", "does not fail") };
            mark(look, sign, word, html);
            html.tag("code").class("name").text(&cause.rule);
            html.tag("span").class("title").text(cause.level.keyword());
            html.tag("span").class("counts").text(&counted(cause.tests, "test"));
            html.tag("span").class("detail").text(&cut(&finding.message, CELL));
        });
        html.tag("div").class("inside").inside(|html| {
            both(finding, html);
            let page = of_pair(&cause.rule, &cause.groups[0]);
            html.tag("dl").class("options").inside(|html| {
                fact("pairs", &cause.groups.join(", "), html);
                if let Some(page) = &page {
                    quoted("authority", &page.authority, html);
                }
                let mut fact = |name: &str, value: &str| fact(name, value, html);
                if !finding.breaks.is_empty() {
                    fact("breaks", &finding.breaks.join(", "));
                }
                for line in &cause.agents {
                    fact("harms", line);
                }
                fact("example", &test.name);
                for file in files(test, run.folder.as_deref()) {
                    fact("recording", &file);
                }
                if let Some(reason) = &test.expected {
                    fact("expected", reason);
                }
            });
            played(&in_between(run, cause), html);
            if let Some(page) = &page {
                fix(&page.fix, html);
            }
            html.tag("pre").inside(|html| html.tag("code").text(&run.command_of(test)));
            timeline(&cause.timeline, html);
            others(run, cause, html);
            if page.is_some() {
                html.tag("p").class("see").inside(|html| {
                    html.tag("a").link(&rule_id(&cause.rule)).text(&format!("Rule {}", cause.rule));
                });
            }
        });
    });
}

/// Writes what both sides show, with the difference marked.
fn both(finding: &TestFinding, html: &mut Html) {
    let all = sides(finding);
    if all.is_empty() {
        return;
    }
    let is_long = all.iter().any(|(_, text)| text.chars().count() > SIDE);
    // Of long texts, only the parts around the difference are compared.
    let shown: Vec<(&str, String)> = all
        .iter()
        .map(|(name, text)| {
            let text = if is_long { window(finding, text, SIDE) } else { (*text).to_owned() };
            (*name, text)
        })
        .collect();
    let parts = match &*shown {
        [(_, upstream), (_, client)] => parted(upstream, client),
        _ => None,
    };
    html.tag("div").class("sides").inside(|html| {
        for (at, (name, text)) in shown.iter().enumerate() {
            html.tag("div").class(if *name == "client" { "found" } else { "expected" }).inside(|html| {
                html.tag("p").class("side").text(name);
                html.tag("pre").set("tabindex", 0).inside(|html| {
                    html.tag("code").inside(|html| match parts.and_then(|parts| parts.get(at).copied()) {
                        None => html.lines(text),
                        Some([same, differing, rest]) => {
                            html.lines(same);
                            html.tag("mark").inside(|html| html.lines(differing));
                            html.lines(rest);
                        }
                    });
                });
            });
        }
    });
    if let Some(at) = first_difference(finding) {
        html.tag("p").class("hint").text(&format!("They differ from character {at}."));
    }
}

/// Writes the recordings of both sides, aligned in time.
fn timeline(moments: &[BetweenMoment], html: &mut Html) {
    if moments.is_empty() {
        return;
    }
    html.tag("details").class("more").set_if(true, "open").inside(|html| {
        html.tag("summary").text("Both sides in time");
        let head = ["time", "client and gateway", "gateway and upstream"];
        table("list", "Both sides in time: → is a request, ← a response", &head, html, |html| {
            for moment in moments.iter().take(MOMENTS) {
                html.tag("tr").inside(|html| {
                    let time = format!("{}.{:03} ms", number(moment.at_us / 1000), moment.at_us % 1000);
                    html.tag("td").class("time").text(&time);
                    for side in [BetweenSide::Client, BetweenSide::Upstream] {
                        let text = if side == moment.side { cut(&moment.what, CELL) } else { String::new() };
                        html.tag("td").class("text").text(&text);
                    }
                });
            }
        });
    });
}

fn others(run: &BetweenRun, cause: &TestCause, html: &mut Html) {
    let has_it = |test: &&BetweenTest| {
        test.findings.iter().any(|finding| finding.rule == cause.rule && finding.kind == cause.kind)
    };
    let all: Vec<&BetweenTest> = run.tests.iter().filter(has_it).collect();
    html.tag("details").class("more").inside(|html| {
        html.tag("summary").text(&counted(all.len() as u64, "test"));
        html.tag("ul").class("trials").inside(|html| {
            for test in all.iter().take(TESTS) {
                html.tag("li").inside(|html| html.tag("a").link(&test.name).text(&test.name));
            }
        });
        if all.len() > TESTS {
            html.tag("p").class("hint").text(&format!("and {} more", number((all.len() - TESTS) as u64)));
        }
    });
}

fn pairs(run: &BetweenRun, html: &mut Html) {
    let head = ["client → upstream", "mode", "passed", "failed", "skipped"];
    table("groups", "Tests by pair of APIs", &head, html, |html| {
        for pair in &run.pairs {
            let counts = [(pair.passed, "good"), (pair.failed, "bad"), (pair.skipped, "idle")];
            row_of_counts(&[&format!("{} → {}", pair.front, pair.upstream), &pair.mode], counts, html);
        }
    });
}

/// All outcomes of a client's stream, the best first.
const OUTCOMES: [StreamOutcome; 8] = [
    StreamOutcome::Complete,
    StreamOutcome::ErrorEvent,
    StreamOutcome::JsonError,
    StreamOutcome::Truncated,
    StreamOutcome::Incomplete,
    StreamOutcome::Malformed,
    StreamOutcome::FalseComplete,
    StreamOutcome::Hung,
];

/// Writes what became of the client's streams.
fn outcomes(run: &BetweenRun, html: &mut Html) {
    let count = |front: &str, upstream: &str, outcome: StreamOutcome| {
        let is_it = |test: &&BetweenTest| {
            test.about.front == front && test.about.upstream == upstream && test.about.stream == Some(outcome)
        };
        run.tests.iter().filter(is_it).count() as u64
    };
    let is_seen = |outcome: &StreamOutcome| run.tests.iter().any(|test| test.about.stream == Some(*outcome));
    let shown: Vec<StreamOutcome> = OUTCOMES.into_iter().filter(is_seen).collect();
    if shown.is_empty() {
        return;
    }
    html.tag("h3").text("What became of the client's streams");
    let head: Vec<&str> =
        std::iter::once("client → upstream").chain(shown.iter().map(|outcome| outcome.name())).collect();
    table("groups", "Outcomes of streams by pair of APIs", &head, html, |html| {
        for pair in &run.pairs {
            let name = format!("{} → {}", pair.front, pair.upstream);
            let count = |outcome: &StreamOutcome| (count(&pair.front, &pair.upstream, *outcome), "count");
            row_of_counts(&[&name], shown.iter().map(count), html);
        }
    });
}

const fn look(test: &BetweenTest) -> (&'static str, &'static str) {
    let class = match test.verdict {
        _ if test.expected.is_some() => "idle",
        Verdict::Pass => "good",
        Verdict::Fail => "bad",
        Verdict::NotExercised => "idle",
        Verdict::HarnessError => "unknown",
    };
    (class, test.verdict.sign())
}

fn tests(run: &BetweenRun, front: &str, upstream: &str, html: &mut Html) {
    let own: Vec<&BetweenTest> = run
        .tests
        .iter()
        .filter(|test| test.about.front == front && test.about.upstream == upstream)
        .collect();
    if own.is_empty() {
        return;
    }
    html.tag("details").class("passed").inside(|html| {
        html.tag("summary").inside(|html| {
            html.tag("span").class("name").text(&format!("{front} → {upstream}"));
            html.tag("span").class("counts").text(&counted(own.len() as u64, "test"));
        });
        for test in own {
            one_test(run, test, html);
        }
    });
}

fn one_test(run: &BetweenRun, test: &BetweenTest, html: &mut Html) {
    let (class, sign) = look(test);
    let tag = html.tag("details").class(&format!("case {class}")).set("id", &test.name);
    tag.set("data-find", &test.name).inside(|html| {
        html.tag("summary").inside(|html| {
            mark(class, sign, test.verdict.word(), html);
            html.tag("span").class("name").text(test.short_name());
            html.tag("span").class("title").text(test.about.stream.map_or("", StreamOutcome::name));
            let found = test.findings.iter().find(|finding| finding.fails);
            let detail = found.map_or(&test.reason, |finding| &finding.message);
            if !detail.is_empty() {
                html.tag("span").class("detail").text(&cut(detail, CELL));
            }
        });
        html.tag("div").class("inside").inside(|html| {
            html.tag("dl").class("options").inside(|html| {
                let mut fact = |name: &str, value: &str| fact(name, value, html);
                for finding in &test.findings {
                    fact(&finding.rule, &cut(&finding.message, CELL));
                }
                for [rule, reason] in &test.about.limits {
                    fact(&format!("not judged: {rule}"), reason);
                }
                for file in files(test, run.folder.as_deref()) {
                    fact("recording", &file);
                }
                if let Some(reason) = &test.expected {
                    fact("expected", reason);
                }
                fact("took", &duration(test.ms));
            });
            html.tag("pre").inside(|html| html.tag("code").text(&run.command_of(test)));
        });
    });
}

fn of_rule(rule: &str, page: &RulePage, html: &mut Html) {
    html.tag("details").class("rule").set("data-find", format!("{rule} {}", page.title)).inside(|html| {
        html.tag("summary").inside(|html| {
            html.tag("code").text(rule);
            html.tag("span").class("title").inside(|html| inline(page.title, html));
        });
        html.tag("div").class("inside").set("id", rule_id(rule)).inside(|html| {
            prose(&page.prose, html);
            html.tag("dl").inside(|html| {
                quoted("authority", &page.authority, html);
                if !page.because.is_empty() {
                    quoted("because", page.because, html);
                }
                for thread in page.threads {
                    quoted("met by users", thread, html);
                }
            });
            html.tag("p").inside(|html| {
                html.tag("b").text("Fix: ");
                inline(&page.fix, html);
            });
        });
    });
}
