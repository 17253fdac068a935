//! How problems are listed.

use serde_json::Value;

/// Maximum number of problems that are listed.
const MOST: usize = 3;

pub(super) fn list_differences(what: &str, found: &[String]) -> Result<(), String> {
    if found.is_empty() { Ok(()) } else { Err(format!("{what}: {}", first_of(found))) }
}

pub(super) fn first_of(found: &[String]) -> String {
    let listed = found.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join("; ");
    match found.len().saturating_sub(MOST) {
        0 => listed,
        more => format!("{listed}; and {more} more"),
    }
}

pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
