//! Keeps manual additions to the files of a dialect across imports.

use codegen::schema::visit;
use serde_json::Value;

use super::text::ordered;

/// Keywords of our own that documents do not have.
const HEAD: &[&str] = &["x-lifecycle", "examples"];

/// Copies our own additions. Returns the pointers of descriptions that no longer exist.
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
