//! A difference for programs.

use super::Diff;

/// Renders a difference as JSON, in the format that its `version` names.
pub fn json(diff: &Diff) -> String {
    let mut text = serde_json::to_string_pretty(diff).expect("its keys are strings and its numbers finite");
    text.push('\n');
    text
}
