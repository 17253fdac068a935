//! Reports of clients as pages for browsers.

use results::{
    ClientOutcome, ClientRun, ClientTest, FailOn, LevelChange, Outcome, ProfileReport, ProfileState,
    TestFinding, Verdict, shell_word,
};

use super::ClientMatrix;
use super::human::{claimed, groups, problems, wanted};
use crate::html::head::{command, fact, heading, meter, sections};
use crate::html::overview::{self, linked, next as steps, stale};
use crate::html::rules::inline;
use crate::html::streams::mark;
use crate::html::{Html, SCRIPT, counted, document, duration, number, row_of_counts, section, table, word};

/// The outcomes that a reader must know about, in the order of the harm that they do.
const HARMFUL: [ClientOutcome; 5] = [
    ClientOutcome::Wrong,
    ClientOutcome::Silent,
    ClientOutcome::Hung,
    ClientOutcome::HarnessError,
    ClientOutcome::Fragile,
];

/// Maximum number of changed levels.
const LEVELS: usize = 12;

/// The others.
const HARMLESS: [ClientOutcome; 3] =
    [ClientOutcome::Right, ClientOutcome::Reported, ClientOutcome::NotExercised];

pub(super) fn report(run: &ClientRun) -> String {
    let title = format!("{}: client conformance of {}", word(run.outcome), run.title());
    let bad = run.tests.iter().filter(|case| HARMFUL.contains(&case.about.outcome)).count();
    let problems = problems(run);
    let profiles: Vec<&ProfileReport> = claimed(run).collect();
    let next = run.next();
    document(&title, run.outcome, |html| {
        html.tag("header").inside(|html| header(run, problems.len(), &profiles, html));
        let all = [
            (bad > 0, "failures", "What it gets wrong", bad, "bad"),
            (!problems.is_empty(), "requests", "Its requests", problems.len(), "bad"),
            (!profiles.is_empty(), "profiles", "Profiles", 0, ""),
            (true, "results", "Results", 0, ""),
            (!next.is_empty(), "next", "Next", 0, ""),
        ];
        sections(&all, "Search cases", html);
        html.tag("main").inside(|html| {
            if bad > 0 {
                section("failures", "What it gets wrong", html, |html| {
                    for outcome in HARMFUL {
                        failures(run, outcome, html);
                    }
                });
            }
            if !problems.is_empty() {
                section("requests", "What is wrong with its requests", html, |html| {
                    requests(&problems, html);
                });
            }
            if !profiles.is_empty() {
                section("profiles", "Profiles", html, |html| of_profiles(&profiles, run, html));
            }
            section("results", "Results", html, |html| {
                groups_of(run, html);
                stale(&run.stale, html);
                html.tag("h3").text("All other cases");
                for outcome in HARMLESS {
                    others(run, outcome, html);
                }
            });
            steps(&next, html);
        });
        html.tag("footer").inside(|html| {
            let (format, dialect) = (run.client_run, run.dialect_in_words());
            html.tag("p").text(&format!("conformance {}, format {format} · dialect {dialect}", run.suite));
        });
        html.script(SCRIPT);
    })
}

/// Writes what was tested, how it ended, and the numbers.
fn header(run: &ClientRun, problems: usize, profiles: &[&ProfileReport], html: &mut Html) {
    heading("Client conformance", run.outcome, &run.title(), &lead(run), html);
    html.tag("dl").class("facts").inside(|html| {
        fact("dialect", &run.dialect_in_words(), html);
        fact("mode", &run.mode, html);
        if run.fail_on != FailOn::default() {
            fact("fails on", run.fail_on.words(), html);
        }
        if !run.levels.is_empty() {
            fact("levels changed", &LevelChange::words(&run.levels, LEVELS), html);
        }
        fact("took", &duration(run.ms), html);
        fact("suite", &run.suite, html);
    });
    if !run.command.is_empty() {
        let words: Vec<_> = run.command.iter().map(|word| shell_word(word)).collect();
        command(&format!("conformance client -- {}", words.join(" ")), html);
    }
    html.tag("div").class("meters").inside(|html| {
        let parts = ClientOutcome::ALL.map(|outcome| {
            let word = if outcome == ClientOutcome::HarnessError { "harness errors" } else { outcome.name() };
            (run.totals.count(outcome), look(outcome), word)
        });
        meter("cases", run.tests.len() as u64, &parts, "", html);
        let states = [ProfileState::Passed, ProfileState::Failed, ProfileState::Incomplete];
        let of_state = |state| profiles.iter().filter(|profile| profile.state == state).count() as u64;
        let parts = states.map(|state| (of_state(state), overview::of_state(state), state.name()));
        meter("profiles", profiles.len() as u64, &parts, "", html);
        let sound = (run.tests.len() as u64).saturating_sub(run.totals.invalid_requests);
        let parts = [
            (sound, "good", "cases with valid requests"),
            (run.totals.invalid_requests, "unknown", "cases with invalid requests"),
        ];
        meter("request problems", problems as u64, &parts, "", html);
    });
}

/// Returns the result in a sentence or two.
fn lead(run: &ClientRun) -> String {
    let bad = |outcome: &ClientOutcome| run.totals.count(*outcome) > 0;
    let counts: Vec<String> = HARMFUL
        .into_iter()
        .filter(bad)
        .map(|outcome| format!("{} {}", number(run.totals.count(outcome)), outcome.name()))
        .collect();
    let all = counted(run.tests.len() as u64, "case");
    match counts.as_slice() {
        [] if run.totals.not_exercised > 0 => {
            let idle = number(run.totals.not_exercised);
            format!("Nothing went wrong in {all}, of which {idle} were not exercised.")
        }
        [] => format!("Nothing went wrong in {all}."),
        counts => format!("{} of {all}.", counts.join(", ")),
    }
}

/// Writes the cases with an outcome that does harm.
fn failures(run: &ClientRun, outcome: ClientOutcome, html: &mut Html) {
    let cases: Vec<&ClientTest> = run.tests.iter().filter(|case| case.about.outcome == outcome).collect();
    if cases.is_empty() {
        return;
    }
    html.tag("h3").text(&format!("{} {}: {}", number(cases.len() as u64), outcome.name(), outcome.meaning()));
    for one in cases {
        case(one, run, html);
    }
}

/// Writes a case: what happened, what was wanted, and the commands that show it.
fn case(case: &ClientTest, run: &ClientRun, html: &mut Html) {
    let tag = html.tag("details").class(&format!("case {}", look(case.about.outcome))).set("id", &case.name);
    tag.set("data-find", format!("{} {} {}", case.name, case.about.title, case.about.outcome.name())).inside(
        |html| {
            html.tag("summary").inside(|html| {
                mark(look(case.about.outcome), case.about.outcome.sign(), case.about.outcome.name(), html);
                html.tag("span").class("name").text(&case.name);
                html.tag("span").class("title").inside(|html| inline(&case.about.title, html));
                if !case.reason.is_empty() {
                    html.tag("span").class("detail").text(&case.reason);
                }
            });
            html.tag("div").class("inside").inside(|html| {
                html.tag("dl").class("options").inside(|html| {
                    let mut row = |name: &str, text: &str| {
                        html.tag("div").inside(|html| {
                            html.tag("dt").text(name);
                            html.tag("dd").inside(|html| inline(text, html));
                        });
                    };
                    row("wanted", wanted(&case.about.expect));
                    row("because", &case.about.because);
                    row("authority", &case.about.authority);
                    for problem in case.requests() {
                        row("its request", &format!("{}: {}", problem.rule, problem.message));
                    }
                    if let Some(reason) = &case.expected {
                        row("expected", reason);
                    }
                });
                let show =
                    format!("conformance client --show {}{}", shell_word(&case.name), run.dialect_flag());
                html.tag("pre").inside(|html| html.tag("code").text(&show));
            });
        },
    );
}

/// Writes the problems of requests, each once.
fn requests(problems: &[(&TestFinding, usize, &str)], html: &mut Html) {
    table("rules", "Requests", &["problem", "rule", "cases", "first"], html, |html| {
        for (problem, count, first) in problems {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").inside(|html| inline(&problem.message, html));
                html.tag("td").text(&problem.rule);
                html.tag("td").class("count").text(&number(*count as u64));
                html.tag("td").inside(|html| html.tag("a").link(first).text(first));
            });
        }
    });
}

/// Writes the profiles, with links to the cases because of which they did not pass.
fn of_profiles(profiles: &[&ProfileReport], run: &ClientRun, html: &mut Html) {
    table("profiles", "Result of each profile", &["profile", "result", "because of"], html, |html| {
        for profile in profiles {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").inside(|html| {
                    html.text(&profile.name);
                    html.tag("span").class("title").text(&profile.title);
                });
                let class = format!("state {}", overview::of_state(profile.state));
                html.tag("td").class(&class).text(profile.state.name());
                html.tag("td").inside(|html| because(profile, run, html));
            });
        }
    });
}

fn because(profile: &ProfileReport, run: &ClientRun, html: &mut Html) {
    let is_due = |verdict| profile.state != ProfileState::Failed || verdict == Verdict::Fail;
    let due = profile.reasons.iter().filter(|reason| is_due(reason.verdict));
    let links = due.map(|reason| {
        let is_there = run.tests.iter().any(|case| case.name == reason.name);
        let name = if reason.name.is_empty() { &*reason.reason } else { &*reason.name };
        (is_there.then(|| reason.name.clone()), name)
    });
    linked(&links.collect::<Vec<_>>(), html);
}

/// Writes the outcomes by group of cases.
fn groups_of(run: &ClientRun, html: &mut Html) {
    let is_shown = |outcome: &ClientOutcome| run.totals.count(*outcome) > 0;
    let shown: Vec<ClientOutcome> = ClientOutcome::ALL.into_iter().filter(is_shown).collect();
    let head: Vec<&str> =
        std::iter::once("cases").chain(shown.iter().map(|outcome| outcome.name())).collect();
    table("groups", "Cases by group", &head, html, |html| {
        for (name, cases) in groups(run) {
            let count =
                |of: ClientOutcome| cases.iter().filter(|case| case.about.outcome == of).count() as u64;
            row_of_counts(&[name], shown.iter().map(|outcome| (count(*outcome), look(*outcome))), html);
        }
    });
}

/// Writes the cases with an outcome that does no harm, folded.
fn others(run: &ClientRun, outcome: ClientOutcome, html: &mut Html) {
    let cases: Vec<&ClientTest> = run.tests.iter().filter(|case| case.about.outcome == outcome).collect();
    if cases.is_empty() {
        return;
    }
    html.tag("details").class("passed").inside(|html| {
        html.tag("summary").inside(|html| {
            mark(look(outcome), outcome.sign(), outcome.name(), html);
            html.tag("span").class("name").text(outcome.name());
            html.tag("span").class("counts").text(&counted(cases.len() as u64, "case"));
        });
        for one in cases {
            case(one, run, html);
        }
    });
}

/// Clients side by side.
pub(super) fn matrix(matrix: &ClientMatrix<'_>) -> String {
    let has_failed = matrix.runs().iter().any(|run| run.outcome == Outcome::Failed);
    let outcome = if has_failed { Outcome::Failed } else { Outcome::Passed };
    document("Client conformance", outcome, |html| {
        html.tag("header").inside(|html| {
            html.tag("p").class("kicker").text("Client conformance");
            html.tag("h1").text(&format!("{} clients", matrix.runs().len()));
        });
        html.tag("main").inside(|html| {
            section("clients", "Clients", html, |html| {
                let names = ClientOutcome::ALL.iter().map(|outcome| outcome.name());
                let head: Vec<&str> = ["client", "version"].into_iter().chain(names).collect();
                table("groups", "Clients", &head, html, |html| {
                    for (run, name) in matrix.runs().iter().zip(matrix.names()) {
                        html.tag("tr").inside(|html| {
                            html.tag("th").set("scope", "row").text(name);
                            html.tag("td").text(run.client_version.as_deref().unwrap_or("–"));
                            for outcome in ClientOutcome::ALL {
                                let count = run.totals.count(outcome);
                                let class = if count == 0 { "none" } else { look(outcome) };
                                html.tag("td").class(&format!("count {class}")).text(&number(count));
                            }
                        });
                    }
                });
            });
            section("cases", "Cases that some clients get wrong", html, |html| {
                let heads = matrix.names().iter().map(String::as_str);
                let head: Vec<&str> = ["case"].into_iter().chain(heads).collect();
                html.tag("p").class("legend").text(&ClientMatrix::legend());
                table("grid", "Cases by client", &head, html, |html| {
                    for (name, cells) in matrix.telling() {
                        html.tag("tr").inside(|html| {
                            html.tag("th").set("scope", "row").text(name);
                            for cell in cells {
                                let outcome = cell.map(|case| case.about.outcome);
                                let class = outcome.map_or("none", look);
                                let told = cell.map_or_else(String::new, |case| {
                                    format!("{}: {}", case.about.outcome.name(), case.reason)
                                });
                                let tag = html.tag("td").class(class).set("title", &told);
                                tag.text(outcome.map_or("", ClientOutcome::sign));
                            }
                        });
                    }
                });
                let handled = number(matrix.handled() as u64);
                html.tag("p").class("hint").text(&format!(
                    "{handled} more cases are handled correctly or reported by every client."
                ));
            });
        });
    })
}

const fn look(outcome: ClientOutcome) -> &'static str {
    match outcome {
        ClientOutcome::Right | ClientOutcome::Reported => "good",
        ClientOutcome::Fragile | ClientOutcome::HarnessError => "unknown",
        ClientOutcome::Wrong | ClientOutcome::Silent | ClientOutcome::Hung => "bad",
        ClientOutcome::NotExercised => "idle",
    }
}
