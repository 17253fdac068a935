//! Where a value stands in a JSON text.

use std::ops::Range;

/// From where to where the value at a JSON pointer stands.
pub(super) fn value(text: &str, pointer: &str) -> Option<Range<usize>> {
    let found = spec::json::at(text, pointer)?;
    let start = (found.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(start..start + found.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_are_found_where_they_stand() {
        let text = r#" {"a":[1, {"b":"x"}]} "#;
        assert_eq!(super::value(text, "/a/1/b").map(|range| &text[range]), Some("\"x\""));
        assert_eq!(super::value(text, "/a/2"), None);
    }
}
