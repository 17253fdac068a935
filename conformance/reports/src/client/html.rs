//! Reports of clients as pages for browsers.

use results::{ClientCaseReport, ClientOutcome, ClientRun, ProfileReport};

use super::ClientMatrix;
use super::human::claimed;
use crate::html::{Html, POLICY, STYLE, class_of, duration, number, section, table, word};

/// Returns the report of a client run.
pub(super) fn report(run: &ClientRun) -> String {
    let title = format!("{}: client conformance of {}", word(run.outcome), run.title());
    document(&title, |html| {
        html.tag("header").inside(|html| {
            html.tag("p").class("kicker").text("Client conformance");
            html.tag("h1").inside(|html| {
                html.tag("span").text(&run.title());
                html.tag("span").class(&format!("outcome {}", class_of(run.outcome))).text(word(run.outcome));
            });
            html.tag("dl").class("facts").inside(|html| {
                let facts = [
                    ("dialect", run.dialect.clone()),
                    ("mode", run.mode.clone()),
                    ("cases", run.cases.len().to_string()),
                    ("time", duration(run.ms)),
                    ("suite", run.suite.clone()),
                ];
                for (name, value) in facts {
                    html.tag("div").inside(|html| {
                        html.tag("dt").text(name);
                        html.tag("dd").text(&value);
                    });
                }
            });
            html.tag("div").class("tiles").inside(|html| {
                for outcome in ClientOutcome::ALL.into_iter().filter(|outcome| run.totals.count(*outcome) > 0)
                {
                    html.tag("div").class(&format!("tile {}", look(outcome))).inside(|html| {
                        html.tag("b").text(&number(run.totals.count(outcome)));
                        html.tag("span").text(outcome.name());
                    });
                }
            });
        });
        html.tag("main").inside(|html| {
            let profiles: Vec<&ProfileReport> = claimed(run).collect();
            if !profiles.is_empty() {
                section("profiles", "Profiles", html, |html| {
                    table("groups", "Profiles", &["profile", "what it says", "state"], html, |html| {
                        for profile in profiles {
                            html.tag("tr").inside(|html| {
                                html.tag("th").set("scope", "row").text(&profile.name);
                                html.tag("td").text(&profile.title);
                                html.tag("td").text(&profile.words());
                            });
                        }
                    });
                });
            }
            let bad: Vec<&ClientCaseReport> =
                run.cases.iter().filter(|case| case.outcome.rank() > 1).collect();
            if !bad.is_empty() {
                section("failures", "What it gets wrong", html, |html| cases(&bad, "failures", html));
            }
            let invalid: Vec<&ClientCaseReport> =
                run.cases.iter().filter(|case| !case.requests.is_empty()).collect();
            if !invalid.is_empty() {
                section("requests", "What is wrong with its requests", html, |html| {
                    table("rules", "Requests", &["case", "rule", "problem"], html, |html| {
                        for case in &invalid {
                            for problem in &case.requests {
                                html.tag("tr").inside(|html| {
                                    html.tag("th").set("scope", "row").text(&case.name);
                                    html.tag("td").text(&problem.rule);
                                    html.tag("td").text(&problem.message);
                                });
                            }
                        }
                    });
                });
            }
            let rest: Vec<&ClientCaseReport> =
                run.cases.iter().filter(|case| case.outcome.rank() <= 1).collect();
            section("others", "All other cases", html, |html| cases(&rest, "other cases", html));
        });
    })
}

/// Clients side by side.
pub(super) fn matrix(matrix: &ClientMatrix<'_>) -> String {
    document("Client conformance", |html| {
        html.tag("header").inside(|html| {
            html.tag("p").class("kicker").text("Client conformance");
            html.tag("h1").text(&format!("{} clients", matrix.runs().len()));
        });
        html.tag("main").inside(|html| {
            section("clients", "Clients", html, |html| {
                let names = ClientOutcome::ALL.iter().map(|outcome| outcome.name());
                let head: Vec<&str> = ["client", "version"].into_iter().chain(names).collect();
                table("groups", "Clients", &head, html, |html| {
                    for run in matrix.runs() {
                        html.tag("tr").inside(|html| {
                            html.tag("th").set("scope", "row").text(&run.client);
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
                let heads: Vec<String> = matrix.runs().iter().map(ClientRun::title).collect();
                let head: Vec<&str> = ["case"].into_iter().chain(heads.iter().map(String::as_str)).collect();
                table("grid", "Cases by client", &head, html, |html| {
                    for (name, cells) in matrix.telling() {
                        html.tag("tr").inside(|html| {
                            html.tag("th").set("scope", "row").text(name);
                            for cell in cells {
                                let outcome = cell.map(|case| case.outcome);
                                let class = outcome.map_or("none", look);
                                let told = cell.map_or_else(String::new, |case| {
                                    format!("{}: {}", case.outcome.name(), case.detail)
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

fn cases(cases: &[&ClientCaseReport], caption: &str, html: &mut Html) {
    table("rules", caption, &["case", "must", "outcome", "what happened"], html, |html| {
        for case in cases {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").inside(|html| {
                    html.tag("span").text(&case.name);
                    html.tag("span").class("title").text(&case.title);
                });
                html.tag("td").text(&case.expect);
                html.tag("td").class(look(case.outcome)).text(case.outcome.name());
                html.tag("td").inside(|html| {
                    html.tag("span").text(&case.detail);
                    html.tag("span").class("title").text(&case.reason);
                });
            });
        }
    });
}

const fn look(outcome: ClientOutcome) -> &'static str {
    match outcome {
        ClientOutcome::Right | ClientOutcome::Reported => "good",
        ClientOutcome::Fragile | ClientOutcome::HarnessError => "unknown",
        ClientOutcome::Wrong | ClientOutcome::Silent | ClientOutcome::Hung => "bad",
        ClientOutcome::NotExercised => "idle",
    }
}

fn document(title: &str, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.tag("html").set("lang", "en").inside(|html| {
        html.tag("head").inside(|html| {
            html.tag("meta").set("charset", "utf-8").empty();
            html.tag("meta")
                .set("http-equiv", "Content-Security-Policy")
                .set("content", POLICY.trim())
                .empty();
            html.tag("meta")
                .set("name", "viewport")
                .set("content", "width=device-width, initial-scale=1")
                .empty();
            html.tag("meta").set("name", "color-scheme").set("content", "light dark").empty();
            html.tag("meta").set("name", "referrer").set("content", "no-referrer").empty();
            html.tag("title").text(title);
            html.style(STYLE);
        });
        html.tag("body").inside(body);
    });
    html.into_document()
}
