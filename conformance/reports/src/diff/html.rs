//! Differences of two runs, as a page for browsers.

use results::Outcome;
use results::text::cut;

use super::Diff;
use super::lists::{List, MAX_LENGTH, lists, side};
use crate::html::head::fact;
use crate::html::{Html, document, table};

/// The differences, the worse ones first.
pub fn html(diff: &Diff) -> String {
    let (outcome, class) =
        if diff.is_worse() { (Outcome::Failed, "outcome bad") } else { (Outcome::Passed, "outcome good") };
    document(&format!("Comparison of two runs: {}", diff.words()), outcome, |html| {
        html.tag("header").inside(|html| {
            html.tag("p").class("kicker").text("Comparison of two runs");
            html.tag("h1").inside(|html| html.tag("span").class(class).text(diff.words()));
        });
        html.tag("main").inside(|html| {
            html.tag("dl").class("facts").inside(|html| {
                fact("before", &side(&diff.before), html);
                fact("after", &side(&diff.after), html);
                for how in &diff.unlike {
                    fact("differs", &cut(how, MAX_LENGTH), html);
                }
            });
            for list in lists(diff) {
                of_list(&list, html);
            }
        });
    })
}

fn of_list(list: &List, html: &mut Html) {
    let heading = format!("{}: {}", list.heading, list.count);
    html.tag("section").inside(|html| {
        html.tag("h2").text(&heading);
        table("rules", &heading, &["what", "before", "after", "why"], html, |html| {
            for row in &list.rows {
                html.tag("tr").inside(|html| {
                    html.tag("th").set("scope", "row").text(&row.name);
                    for cell in [&row.before, &row.after, &row.detail] {
                        html.tag("td").text(cell);
                    }
                });
            }
        });
        if list.more > 0 {
            html.tag("p").class("rest").text(&format!("and {} more", list.more));
        }
    });
}
