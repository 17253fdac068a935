//! Renders a diff as JSON.

use super::Diff;

/// Renders a diff as JSON, in the format of its `version`.
pub fn json(diff: &Diff) -> String {
    let mut text = serde_json::to_string_pretty(diff).expect("its keys are strings and its numbers finite");
    text.push('\n');
    text
}
