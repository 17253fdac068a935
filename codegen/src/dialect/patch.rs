//! Patches of inherited files, as a JSON Merge Patch (RFC 7396).
//!
//! Lists are edited in place: where the inherited file has a list, `{"x-add": [...], "x-remove": [...]}`
//! adds and removes entries, and `x-first` adds them at the start; `{"0": ...}` patches the first entry, such as a
//! branch of `anyOf`. Any other value replaces the whole list.

use serde_json::{Map, Value};

use crate::schema::escape;

/// Applies a patch. Returns its places without effect, with the reason.
pub(super) fn apply(file: &mut Value, patch: &Value) -> Vec<(String, &'static str)> {
    let mut idle = Vec::new();
    value(file, patch, "", &mut idle);
    idle
}

fn value(old: &mut Value, patch: &Value, at: &str, idle: &mut Vec<(String, &'static str)>) {
    match (old, patch) {
        (Value::Array(entries), Value::Object(edit)) if is_edit_of_list(edit) => {
            list(entries, edit, at, idle);
        }
        (Value::Object(map), Value::Object(changes)) => {
            for (key, change) in changes {
                member(map, key, change, &format!("{at}/{}", escape(key)), idle);
            }
        }
        (old, patch) if old == patch => idle.push((at.to_owned(), "the inherited value is the same")),
        (old, patch) => *old = patch.clone(),
    }
}

fn member(
    map: &mut Map<String, Value>,
    key: &str,
    change: &Value,
    at: &str,
    idle: &mut Vec<(String, &'static str)>,
) {
    match (map.get_mut(key), change) {
        (None, Value::Null) => idle.push((at.to_owned(), "there is nothing to remove")),
        (Some(_), Value::Null) => drop(map.shift_remove(key)),
        (Some(old), change) => value(old, change, at, idle),
        (None, Value::Object(new)) => {
            let is_list = new.keys().any(|key| EDITS.contains(&key.as_str())) && is_edit_of_list(new);
            let mut fresh = if is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            value(&mut fresh, change, at, idle);
            map.insert(key.to_owned(), fresh);
        }
        (None, change) => drop(map.insert(key.to_owned(), change.clone())),
    }
}

fn is_edit_of_list(edit: &Map<String, Value>) -> bool {
    !edit.is_empty() && edit.keys().all(|key| EDITS.contains(&key.as_str()) || index(key).is_some())
}

const EDITS: [&str; 3] = ["x-add", "x-first", "x-remove"];

/// A member of a patch can be about an entry of a list.
fn index(key: &str) -> Option<usize> {
    key.parse().ok().filter(|index: &usize| index.to_string() == key)
}

fn list(
    entries: &mut Vec<Value>,
    edit: &Map<String, Value>,
    at: &str,
    idle: &mut Vec<(String, &'static str)>,
) {
    let of = |keyword: &str| edit.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate();
    for (key, change) in edit {
        let Some(index) = index(key) else { continue };
        match entries.get_mut(index) {
            Some(entry) => value(entry, change, &format!("{at}/{key}"), idle),
            None => idle.push((format!("{at}/{key}"), "the list has no such entry")),
        }
    }
    for (index, entry) in of("x-remove") {
        let before = entries.len();
        entries.retain(|old| old != entry);
        if entries.len() == before {
            idle.push((format!("{at}/x-remove/{index}"), "the list has no such entry"));
        }
    }
    let known = entries.clone();
    let mut is_new = |keyword: &str, index: usize, entry: &Value| {
        let is_known = known.contains(entry);
        if is_known {
            idle.push((format!("{at}/{keyword}/{index}"), "the list already has this entry"));
        }
        !is_known
    };
    for (index, entry) in of("x-first") {
        if is_new("x-first", index, entry) {
            entries.insert(index.min(entries.len()), entry.clone());
        }
    }
    for (index, entry) in of("x-add") {
        if is_new("x-add", index, entry) {
            // Null stays last, as in normal form.
            let is_null = |old: &Value| old.get("type").is_some_and(|kind| kind == "null");
            let end = entries.iter().position(is_null).unwrap_or(entries.len());
            entries.insert(end, entry.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_says_only_what_differs() {
        let mut file = json!({
            "description": "Old.",
            "required": ["type", "id"],
            "properties": { "type": { "const": "a" }, "id": { "type": "string" } },
            "anyOf": [{ "type": "string" }, { "type": "null" }],
        });
        let patch = json!({
            "description": "New.",
            "required": { "x-add": ["n"], "x-remove": ["id"] },
            "properties": { "id": null, "n": { "type": "integer" } },
            "anyOf": { "x-add": [{ "type": "integer" }], "x-first": [{ "type": "boolean" }, { "type": "number" }] },
            "examples": [{ "id": null }],
        });
        assert_eq!(apply(&mut file, &patch), []);
        let expected = json!({
            "description": "New.",
            "required": ["type", "n"],
            "properties": { "type": { "const": "a" }, "n": { "type": "integer" } },
            "anyOf": [
                { "type": "boolean" }, { "type": "number" }, { "type": "string" }, { "type": "integer" },
                { "type": "null" },
            ],
            "examples": [{ "id": null }],
        });
        assert_eq!(file, expected);
    }

    #[test]
    fn a_patch_reaches_into_the_branches_of_a_list() {
        let mut file = json!({ "anyOf": [{ "enum": ["stop"] }, { "type": "null" }] });
        let patch =
            json!({ "anyOf": { "0": { "enum": { "x-add": ["paused"] } } }, "0": { "type": "string" } });
        assert_eq!(apply(&mut file, &patch), []);
        let expected = json!({
            "anyOf": [{ "enum": ["stop", "paused"] }, { "type": "null" }],
            "0": { "type": "string" },
        });
        assert_eq!(file, expected);
        let idle = apply(&mut file, &json!({ "anyOf": { "2": { "enum": ["a"] } } }));
        assert_eq!(idle, [("/anyOf/2".to_owned(), "the list has no such entry")]);
    }
}
