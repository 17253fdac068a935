//! Paths to values in rows of logs.

use std::borrow::Cow;

use spec::json::{at, entries, string, values};

/// All values at a path, until the function returns true. `*` stands for each entry of a list. A text that is an object or a
/// list is entered, and a list of objects with `key` and `value` is read as an object, as OpenTelemetry writes attributes.
pub(crate) fn each(value: &str, path: &str, found: &mut dyn FnMut(&str) -> bool) -> bool {
    let value = plain(value.trim_ascii());
    let Some(path) = path.strip_prefix('/') else { return found(value) };
    if value.starts_with('"') {
        let inside = string(value).unwrap_or_default();
        let is_nested = inside.trim_start().starts_with(['{', '[']);
        return is_nested && each(&inside, &format!("/{path}"), found);
    }
    let (step, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    if !value.starts_with('[') {
        return at(value, &format!("/{step}")).is_some_and(|inner| each(inner, rest, found));
    }
    let entries = entries(value).unwrap_or_default();
    if step == "*" {
        return entries.into_iter().any(|entry| each(entry, rest, found));
    }
    let entry = match step.parse::<usize>() {
        Ok(index) => entries.get(index).copied(),
        Err(_) => entries.iter().find_map(|entry| attribute(entry, step)),
    };
    entry.is_some_and(|entry| each(entry, rest, found))
}

fn attribute<'v>(entry: &'v str, name: &str) -> Option<&'v str> {
    let [key, value] = values(entry, ["key", "value"]);
    (!value.is_empty() && string(key)? == name).then_some(value)
}

/// The values of OpenTelemetry state their type.
const TYPED: [&str; 6] =
    ["stringValue", "intValue", "doubleValue", "boolValue", "arrayValue/values", "kvlistValue/values"];

fn plain(value: &str) -> &str {
    let is_typed = value.starts_with('{') && value[1..].trim_start().get(..8).is_some_and(is_type);
    if !is_typed {
        return value;
    }
    TYPED.iter().find_map(|name| at(value, &format!("/{name}"))).unwrap_or(value)
}

fn is_type(start: &str) -> bool {
    TYPED.iter().any(|name| start.strip_prefix('"').is_some_and(|start| name.starts_with(start)))
}

/// The first path with a value other than null and an empty text, and the value, as JSON.
pub(crate) fn first<'p>(row: &str, paths: &[&'p str]) -> Option<(&'p str, String)> {
    paths.iter().find_map(|path| {
        let mut value = None;
        each(row, path, &mut |found| {
            let is_value = !matches!(found, "null" | "\"\"");
            value = is_value.then(|| found.to_owned());
            is_value
        });
        Some((*path, value?))
    })
}

/// An object or a list in a text is none.
pub(super) fn text(value: &str) -> Option<Cow<'_, str>> {
    string(value).filter(|text| !text.is_empty() && !text.trim_start().starts_with(['{', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_enter_lists_texts_and_attributes() {
        let of = |row, path| first(row, &[path]).map(|(_, value)| value).unwrap_or_default();
        assert_eq!(of(r#"{"a":[{"b":null},{"b":2}]}"#, "/a/*/b"), "2");
        assert_eq!(of(r#"{"a":[1,2]}"#, "/a/1"), "2");
        assert_eq!(of(r#"{"a":"{\"b\":[3]}"}"#, "/a/b/0"), "3");
        assert_eq!(of(r#"{"a":"b"}"#, "/a/b"), "");
        let row = r#"{"attributes":[{"key":"x.y","value":{"intValue":"4"}},
            {"key":"z","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v"}}]}}]}}}]}"#;
        assert_eq!(of(row, "/attributes/x.y"), "\"4\"");
        assert_eq!(of(row, "/attributes/z/*/k"), "\"v\"");
        // Nothing is entered without end.
        let deep = "[".repeat(100_000);
        assert_eq!(of(&deep, "/0/0"), "");
    }
}
