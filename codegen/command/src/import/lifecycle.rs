//! Guesses the lifecycle of a new event from its name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use codegen::folders::paths;
use codegen::todo::{settled, todo};
use serde_json::{Value, json};

use super::text::ordered;

/// The role, and the property of the value, by the last part of a name.
const ENDINGS: &[(&str, &str, Option<&str>)] =
    &[("added", "open", None), ("delta", "delta", Some("delta")), ("done", "final", None)];

/// Last parts of the names of events that begin a phase.
const PHASES: &[&str] = &[
    "queued",
    "in_progress",
    "searching",
    "interpreting",
    "generating",
    "completed",
    "failed",
    "compacting",
];

/// The lifecycle comes from another dialect, or is guessed from the name. Both are marked as guesses.
pub(super) fn place(event: &mut Value, folder: &Path, root: &str) {
    let Some(name) = event.get("$id").and_then(Value::as_str).map(str::to_owned) else { return };
    let neighbours = folder.parent().map(paths).unwrap_or_default();
    let elsewhere = neighbours.iter().filter(|path| *path != folder).find_map(|neighbour| {
        let text = fs::read_to_string(neighbour.join(format!("events/{name}.json"))).ok()?;
        let file: Value = serde_json::from_str(&text).ok()?;
        let mut lifecycle = file.get("x-lifecycle")?.clone();
        let scope = settled(lifecycle.get("scope")?.as_str()?).to_owned();
        lifecycle["scope"] = json!(todo(&scope));
        Some(lifecycle)
    });
    let guess = elsewhere.unwrap_or_else(|| guess(&name, event, &BTreeMap::new(), root));
    if let Value::Object(map) = event {
        map.insert("x-lifecycle".to_owned(), guess);
        *event = ordered(std::mem::take(map));
    }
}

pub(super) fn guess(name: &str, event: &Value, files: &BTreeMap<String, Value>, root: &str) -> Value {
    let (family, ending) = name.rsplit_once('.').unwrap_or(("", name));
    let sibling = sibling_scope(family, files);
    let has_phases = sibling.as_ref().is_some_and(|scope| scope != root);
    let scope = sibling.unwrap_or_else(|| root.to_owned());
    let mut guess = json!({ "scope": todo(&scope), "role": "point" });
    if let Some((_, role, value)) = ENDINGS.iter().find(|(known, ..)| *known == ending) {
        guess["role"] = json!(role);
        let value = value.map(str::to_owned).or_else(|| own_value(event, family));
        match value {
            Some(value) => guess["value"] = json!(format!("/{value}")),
            None if *role == "final" => guess["role"] = json!("close"),
            None => {}
        }
    } else if PHASES.contains(&ending) && has_phases {
        guess["role"] = json!("phase");
        guess["phase"] = json!(ending);
    }
    guess
}

fn sibling_scope(family: &str, files: &BTreeMap<String, Value>) -> Option<String> {
    let siblings = files.iter().filter_map(|(path, file)| {
        let name = path.strip_prefix("events/")?.strip_suffix(".json")?;
        let (other, _) = name.rsplit_once('.')?;
        (other == family).then(|| file.pointer("/x-lifecycle/scope")?.as_str().map(str::to_owned)).flatten()
    });
    siblings.into_iter().next().map(|scope| settled(&scope).to_owned())
}

/// The property with the name of the family, or a usual one.
fn own_value(event: &Value, family: &str) -> Option<String> {
    let properties = event.get("properties")?.as_object()?;
    let word = family.rsplit(['.', '_']).next().unwrap_or_default();
    ["item", "part", word, "text", "value"]
        .into_iter()
        .find(|name| properties.contains_key(*name))
        .map(str::to_owned)
}
