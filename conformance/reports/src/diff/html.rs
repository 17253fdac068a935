//! Differences of two runs, as a page for browsers.

use results::Outcome;
use results::text::cut;

use super::Diff;
use super::lists::{List, MAX_LENGTH, lists, side};
use crate::html::head::fact;
use crate::html::{Html, document, table};

/// Returns the differences, the worse ones first.
pub fn html(diff: &Diff) -> String {
    page(diff.is_worse(), diff.words(), |html| {
        html.tag("dl").class("facts").inside(|html| {
            fact("before", &side(&diff.before), html);
            fact("after", &side(&diff.after), html);
            for how in &diff.unlike {
                fact("differs", &cut(how, MAX_LENGTH), html);
            }
        });
        for List { heading, count, rows, more, .. } in lists(diff) {
            let heading = format!("{heading}: {count}");
            html.tag("section").inside(|html| {
                html.tag("h2").text(&heading);
                table("rules", &heading, &["what", "before", "after", "why"], html, |html| {
                    for row in rows {
                        html.tag("tr").inside(|html| {
                            html.tag("th").set("scope", "row").text(&row.name);
                            for cell in [&row.before, &row.after, &row.detail] {
                                html.tag("td").text(cell);
                            }
                        });
                    }
                });
                if more > 0 {
                    html.tag("p").class("rest").text(&format!("and {more} more"));
                }
            });
        }
    })
}

/// Returns a page with differences as they are written for a terminal.
pub fn html_of_text(text: &str, is_worse: bool) -> String {
    page(is_worse, if is_worse { "worse" } else { "not worse" }, |html| {
        html.tag("pre").set("tabindex", 0).text(text);
    })
}

fn page(is_worse: bool, words: &str, body: impl FnOnce(&mut Html)) -> String {
    let outcome = if is_worse { Outcome::Failed } else { Outcome::Passed };
    document(&format!("Comparison of two runs: {words}"), outcome, |html| {
        html.tag("header").inside(|html| {
            html.tag("p").class("kicker").text("Comparison of two runs");
            html.tag("h1").inside(|html| {
                let class = if is_worse { "outcome bad" } else { "outcome good" };
                html.tag("span").class(class).text(words);
            });
        });
        html.tag("main").inside(body);
    })
}
