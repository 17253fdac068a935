//! A run as a badge: what shields.io reads from an endpoint.

use serde_json::json;

use results::text::{counted, visible};
use results::{Outcome, Run};

/// The state of a run in few words, with the count that the summary begins with, and the colour that goes with it.
pub(super) fn words(run: &Run) -> (String, &'static str) {
    let (count, what) = match &run.live {
        Some(_) => (run.totals.trials.failed, "test"),
        None => (run.totals.errors, "error"),
    };
    match run.outcome {
        Outcome::Passed => ("passed".to_owned(), "brightgreen"),
        Outcome::Incomplete => ("incomplete".to_owned(), "lightgrey"),
        Outcome::Failed if count == 0 => ("failed".to_owned(), "red"),
        Outcome::Failed => (format!("failed: {}", counted(count, what)), "red"),
    }
}

/// What the badge is about.
pub(super) fn label(run: &Run) -> String {
    format!("conformance {}", visible(&run.dialect))
}

/// The badge, as an endpoint of shields.io tells it.
pub(super) fn badge(run: &Run) -> String {
    let (message, color) = words(run);
    let badge = json!({ "schemaVersion": 1, "label": label(run), "message": message, "color": color });
    format!("{badge}\n")
}
