//! A run as a badge for shields.io.

use std::fmt::Write as _;

use serde_json::json;

use results::text::{counted, visible};
use results::{Outcome, Run};

/// Returns the state of a run in a few words, with the headline count of the summary, and its color.
pub(super) fn words(run: &Run) -> (String, &'static str) {
    let (count, what) = match &run.live {
        Some(_) => (run.totals.trials.failed, "test"),
        None => (run.totals.errors, "error"),
    };
    let (mut state, color) = match run.outcome {
        Outcome::Passed => ("passed".to_owned(), "brightgreen"),
        Outcome::Incomplete => ("incomplete".to_owned(), "lightgrey"),
        Outcome::Failed if count > 0 => (format!("failed: {}", counted(count, what)), "red"),
        Outcome::Failed => match run.failing().non_zero().next() {
            Some((count, what)) => (format!("failed: {}", counted(count, what)), "red"),
            None => ("failed".to_owned(), "red"),
        },
    };
    if !run.levels.is_empty() {
        let _ = write!(state, ", {} changed", counted(run.levels.len() as u64, "level"));
    }
    (state, color)
}

pub(super) fn label(run: &Run) -> String {
    format!("conformance {}", visible(&run.dialect))
}

/// Returns the badge in the format of shields.io endpoints.
pub(super) fn badge(run: &Run) -> String {
    let (message, color) = words(run);
    let badge = json!({ "schemaVersion": 1, "label": label(run), "message": message, "color": color });
    format!("{badge}\n")
}
