//! Keeps manual additions to the files of a dialect across imports.

use serde_json::{Map, Value};

use super::text::ordered;

/// Keywords of our own that documents do not have.
const HEAD: &[&str] = &["x-lifecycle", "examples"];

/// Calls `each` with every schema inside a schema in normal form, and its JSON pointer.
pub(super) fn visit<'v>(
    schema: &'v Value,
    pointer: &str,
    each: &mut impl FnMut(&str, &'v Map<String, Value>),
) {
    let Value::Object(map) = schema else { return };
    each(pointer, map);
    for keyword in ["items", "additionalProperties", "propertyNames"] {
        if let Some(inner) = map.get(keyword) {
            visit(inner, &format!("{pointer}/{keyword}"), each);
        }
    }
    if let Some(Value::Array(branches)) = map.get("anyOf") {
        for (index, branch) in branches.iter().enumerate() {
            visit(branch, &format!("{pointer}/anyOf/{index}"), each);
        }
    }
    if let Some(Value::Object(properties)) = map.get("properties") {
        for (name, property) in properties {
            let name = name.replace('~', "~0").replace('/', "~1");
            visit(property, &format!("{pointer}/properties/{name}"), each);
        }
    }
}

/// Copies our own additions from `old`. Returns the pointers of descriptions that no longer exist.
pub(super) fn keep(new: &mut Value, old: &Value) -> Vec<String> {
    let mut descriptions = Vec::new();
    visit(old, "", &mut |pointer, map| {
        if let Some(text) = map.get("description") {
            descriptions.push((pointer.to_owned(), text.clone()));
        }
    });
    let mut lost = Vec::new();
    for (pointer, text) in descriptions {
        if !insert(new, &pointer, "description", text) {
            lost.push(pointer);
        }
    }
    for keyword in HEAD {
        if let Some(value) = old.get(keyword) {
            insert(new, "", keyword, value.clone());
        }
    }
    lost
}

fn insert(root: &mut Value, pointer: &str, keyword: &str, value: Value) -> bool {
    let Some(Value::Object(map)) = root.pointer_mut(pointer) else { return false };
    let mut map = std::mem::take(map);
    map.insert(keyword.to_owned(), value);
    if let Some(place) = root.pointer_mut(pointer) {
        *place = ordered(map);
    }
    true
}
