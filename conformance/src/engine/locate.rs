//! Where a value stands in a JSON text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;

/// From where to where the value at a JSON pointer stands.
pub(super) fn value(text: &str, pointer: &str) -> Option<Range<usize>> {
    let mut found = text.trim_ascii();
    for segment in pointer.split('/').skip(1) {
        found = if found.starts_with('{') {
            let name = segment.replace("~1", "/").replace("~0", "~");
            let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(found).ok()?;
            members.get(name.as_str())?.get()
        } else {
            let entries: Vec<&RawValue> = serde_json::from_str(found).ok()?;
            entries.get(segment.parse::<usize>().ok()?)?.get()
        };
    }
    let start = (found.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(start..start + found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_to_values() {
        let text = r#" {"a/b":[1, {"c\n":"x"}],"d":null} "#;
        let at = |pointer: &str| value(text, pointer).map(|range| &text[range]);
        assert_eq!(at(""), Some(text.trim()));
        assert_eq!(at("/a~1b/0"), Some("1"));
        assert_eq!(at("/a~1b/1/c\n"), Some("\"x\""));
        assert_eq!(at("/d"), Some("null"));
        assert_eq!(at("/d/e"), None);
        assert_eq!(at("/nowhere"), None);
    }
}
