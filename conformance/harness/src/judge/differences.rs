//! How differences are listed.

use serde_json::Value;

/// Maximum number of differences.
const MAX_DIFFERENCES: usize = 3;

/// Fails if there are differences, and lists them.
pub(super) fn list_differences(what: &str, found: &[String]) -> Result<(), String> {
    if found.is_empty() {
        return Ok(());
    }
    let listed = found.iter().take(MAX_DIFFERENCES).map(String::as_str).collect::<Vec<_>>().join("; ");
    let more = found.len().saturating_sub(MAX_DIFFERENCES);
    Err(format!("{what}: {listed}{}", if more > 0 { format!("; and {more} more") } else { String::new() }))
}

/// Returns the beginning of a value.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
