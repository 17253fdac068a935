//! Clients side by side as a page for browsers.

use results::{ClientOutcome, Outcome};

use super::ClientMatrix;
use crate::html::{document, number, section, table};

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

pub(super) const fn look(outcome: ClientOutcome) -> &'static str {
    match outcome {
        ClientOutcome::Right | ClientOutcome::Reported => "good",
        ClientOutcome::Fragile | ClientOutcome::HarnessError => "unknown",
        ClientOutcome::Wrong | ClientOutcome::Silent | ClientOutcome::Hung => "bad",
        ClientOutcome::NotExercised => "idle",
    }
}
