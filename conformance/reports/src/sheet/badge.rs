//! A sheet as a badge for shields.io.

use results::Outcome;
use results::text::{counted, visible};
use serde_json::json;

use super::Sheet;

/// The outcome in a few words.
pub(crate) fn state(outcome: Outcome, failed: Option<(u64, &str)>, levels: usize) -> String {
    let mut state = outcome.name().to_owned();
    if let (Outcome::Failed, Some((count, what))) = (outcome, failed) {
        state = format!("{state}: {}", counted(count, what));
    }
    match levels {
        0 => state,
        _ => format!("{state}, {} changed", counted(levels as u64, "level")),
    }
}

pub(super) const fn color(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "brightgreen",
        Outcome::Incomplete => "lightgrey",
        Outcome::Failed => "red",
    }
}

pub(crate) fn badge(sheet: &Sheet<'_>) -> String {
    let (label, color) = (visible(&sheet.title), color(sheet.outcome));
    let badge = json!({ "schemaVersion": 1, "label": label, "message": sheet.state, "color": color });
    format!("{badge}\n")
}
