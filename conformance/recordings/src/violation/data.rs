//! Edits of a JSON value at a pointer.

use serde_json::Value;

pub(super) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("`{text}` is not JSON: {error}"))
}

/// `-` is the end of a list.
pub(super) fn set(root: &mut Value, pointer: &str, value: &Value) -> Result<(), String> {
    let (parent, name) = parent(root, pointer)?;
    match parent {
        Value::Object(members) => {
            members.insert(name, value.clone());
            return Ok(());
        }
        Value::Array(entries) if name == "-" => {
            entries.push(value.clone());
            return Ok(());
        }
        Value::Array(entries) => {
            if let Some(entry) = name.parse().ok().and_then(|at: usize| entries.get_mut(at)) {
                *entry = value.clone();
                return Ok(());
            }
        }
        _ => {}
    }
    Err(nothing_at(pointer))
}

pub(super) fn prepend(root: &mut Value, pointer: &str, text: &str) -> Result<(), String> {
    let Some(Value::String(old)) = root.pointer_mut(pointer) else {
        return Err(format!("the event has no text at \"{pointer}\""));
    };
    old.insert_str(0, text);
    Ok(())
}

pub(super) fn unset(root: &mut Value, pointer: &str) -> Result<(), String> {
    let (parent, name) = parent(root, pointer)?;
    let taken = match parent {
        Value::Object(members) => members.shift_remove(&name).is_some(),
        Value::Array(entries) => match name.parse::<usize>() {
            Ok(at) if at < entries.len() => {
                entries.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    };
    if taken { Ok(()) } else { Err(nothing_at(pointer)) }
}

fn parent<'v>(root: &'v mut Value, pointer: &str) -> Result<(&'v mut Value, String), String> {
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    let found = root.pointer_mut(parent).ok_or_else(|| nothing_at(parent))?;
    Ok((found, name.replace("~1", "/").replace("~0", "~")))
}

fn nothing_at(pointer: &str) -> String {
    format!("the event has no value at \"{pointer}\"")
}
