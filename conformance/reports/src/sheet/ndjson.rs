//! A sheet as lines of JSON, each with its kind as the first member.

use results::text::escaped_json;
use serde::Serialize;

use super::Sheet;

pub(crate) fn ndjson(sheet: &Sheet<'_>) -> String {
    (sheet.lines)()
}

/// The line of a value that is an object.
pub(crate) fn line(kind: &str, of: &impl Serialize) -> String {
    let object = serde_json::to_string(of).unwrap_or_default();
    format!("{{\"kind\":\"{kind}\",{}\n", escaped_json(object.strip_prefix('{').unwrap_or(&object)))
}
