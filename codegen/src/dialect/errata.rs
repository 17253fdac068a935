//! Applies corrections to the files of a dialect.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::formats::Change;

/// Files of a dialect by their path in its folder.
pub(super) type Files = BTreeMap<String, Value>;

/// The result is the places where the change had no effect, with the reason.
pub(super) fn apply(change: &Change, files: &mut Files) -> Vec<String> {
    let idle: Vec<Option<String>> = match change {
        Change::Nullable(places) => places.iter().map(|at| edit(files, at, nullable)).collect(),
        Change::Optional(places) => places.iter().map(|at| optional(files, at)).collect(),
        Change::Values(more) => vec![edit(files, &more.at, |schema| add_values(schema, &more.add))],
        Change::Set(new) => match serde_json::from_str::<Value>(&new.to) {
            Ok(to) => vec![edit(files, &new.at, |schema| replace(schema, to))],
            Err(error) => vec![Some(format!("{}: `to` is not JSON: {error}", new.at))],
        },
        Change::Adds(paths) => paths
            .iter()
            .map(|path| (!files.contains_key(path)).then(|| format!("{path}: no such file in the dialect")))
            .collect(),
    };
    idle.into_iter().flatten().collect()
}

/// The corrections of the change are not undone.
pub(super) fn leave_out(change: &Change, files: &mut Files) -> Vec<String> {
    if let Change::Adds(paths) = change {
        files.retain(|path, _| !paths.contains(path));
    }
    Vec::new()
}

fn edit(files: &mut Files, place: &str, change: impl FnOnce(&mut Value) -> bool) -> Option<String> {
    let Some((file, pointer)) = place.split_once('#') else {
        return Some(format!("{place}: expected a place, written <file>#<pointer>"));
    };
    match files.get_mut(file).and_then(|json| json.pointer_mut(pointer)) {
        None => Some(format!("{place}: no such place")),
        Some(schema) => (!change(schema)).then(|| format!("{place}: the schema already has this")),
    }
}

fn nullable(schema: &mut Value) -> bool {
    if let Some(branches) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        let null = json!({ "type": "null" });
        return !branches.contains(&null) && {
            branches.push(null);
            true
        };
    }
    match schema.get("type") {
        Some(Value::Array(_)) => false,
        Some(Value::String(name)) if name == "null" => false,
        None if schema.get("$ref").is_none() && schema.get("const").is_none() => false,
        _ => {
            let inner = schema.take();
            *schema = json!({ "anyOf": [inner, { "type": "null" }] });
            true
        }
    }
}

fn optional(files: &mut Files, place: &str) -> Option<String> {
    let Some((owner, name)) = place.rsplit_once("/properties/") else {
        return Some(format!("{place}: expected the place of a property, which ends in /properties/<name>"));
    };
    edit(files, owner, |schema| {
        let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) else { return false };
        let before = required.len();
        required.retain(|entry| entry != name);
        required.len() < before
    })
}

fn add_values(schema: &mut Value, add: &[String]) -> bool {
    let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) else { return false };
    let all_new = add.iter().all(|value| !values.iter().any(|known| known == value));
    values.extend(add.iter().map(|value| json!(value)));
    all_new
}

/// Keywords that stay when the schema of a whole file is replaced.
const HEAD: &[&str] = &["$schema", "$id", "description", "x-lifecycle", "examples"];

fn replace(schema: &mut Value, mut to: Value) -> bool {
    if schema.get("$id").is_some()
        && let (Some(old), Some(new)) = (schema.as_object(), to.as_object_mut())
    {
        for keyword in HEAD.iter().filter(|keyword| old.contains_key(**keyword)) {
            new.insert((*keyword).to_owned(), old[*keyword].clone());
        }
    }
    let differs = *schema != to;
    *schema = to;
    differs
}
