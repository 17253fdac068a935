use std::path::PathBuf;

use anyhow::{anyhow, ensure};
use serde_json::{Map, Value, json};

use super::Skeleton;
use crate::dialect::{self, Dialect};
use crate::formats::{ApiFile, EventLine, Role, Scope};
use crate::todo::todo;

/// Returns the file of an event, with the properties of its scope and role.
pub(crate) fn event(
    name: &str,
    dialect: &Dialect,
    api: &ApiFile,
    scope: (&String, &Scope),
    role: Role,
) -> anyhow::Result<Skeleton> {
    let fits = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c));
    ensure!(fits, "\"{name}\" is not a valid event type: use letters, digits, and . _ : -");
    let in_dialect = &dialect.name;
    let is_known = dialect.events.contains_key(name);
    ensure!(!is_known, "{in_dialect} already has an event \"{name}\", its own or inherited");
    let text = format!("{:#}\n", file(name, dialect, api, scope, role)?);
    let next = vec![
        "describe the event in `description`, and declare its properties".to_owned(),
        "replace the example by a recorded event".to_owned(),
        format!(
            "if the dialect is imported and its document does not have the event, name the file under `adds` in \
             dialects/{in_dialect}/errata.toml, so that the next import keeps it"
        ),
    ];
    let path = PathBuf::from(format!("dialects/{in_dialect}/events/{name}.json"));
    Ok(Skeleton { files: vec![(path, text)], edited: Vec::new(), next })
}

fn file(
    name: &str,
    dialect: &Dialect,
    api: &ApiFile,
    (scope_name, scope): (&String, &Scope),
    role: Role,
) -> anyhow::Result<Value> {
    let mut lifecycle = json!({ "scope": scope_name, "role": role });
    let mut properties = Map::new();
    let mut example = Map::new();
    let mut declare = |name: &str, schema: Value, value: Value| {
        properties.insert(name.to_owned(), schema);
        example.insert(name.to_owned(), value);
    };
    if dialect.file.framing.event_line != EventLine::Discriminator {
        declare("type", json!({ "const": name }), json!(name));
    }
    if let Some(slot) = used_slot(dialect, api, "sequence_number") {
        declare(slot, json!({ "type": "integer" }), json!(4));
    }
    if scope.key.iter().any(|slot| slot == "output_index")
        && scope_name != "item"
        && let Some(slot) = used_slot(dialect, api, "item_id")
    {
        declare(slot, json!({ "type": "string" }), json!("item_1"));
    }
    for slot in &scope.key {
        let pointer = dialect.file.envelope.0.get(slot).or_else(|| api.slots.get(slot));
        if let Some(slot) = pointer.and_then(|pointer| pointer.strip_prefix('/')) {
            declare(slot, json!({ "type": "integer" }), json!(0));
        }
    }
    if role == Role::Phase {
        let own = name.rsplit('.').next().unwrap_or(name);
        let known = || scope.phases.iter().chain(&scope.ends);
        let phase = known().find(|phase| *phase == own).or_else(|| known().next());
        let phase = phase.ok_or_else(|| anyhow!("the scope \"{scope_name}\" has no phases; see api.toml"))?;
        lifecycle["phase"] = json!(phase);
    } else if let Some((value, kind)) = value_of(scope_name, scope, role) {
        lifecycle["value"] = json!(format!("/{value}"));
        let description = todo("one sentence on the value of this event");
        let sent = todo("a value that the product sends");
        let sample = if kind == "object" { json!({ "type": sent }) } else { json!(sent) };
        declare(&value, json!({ "description": description, "type": kind }), sample);
    }
    let required: Vec<&String> = properties.keys().collect();
    Ok(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": name,
        "description": todo("one sentence on what happened"),
        "x-lifecycle": lifecycle,
        "type": "object",
        "required": required,
        "properties": properties,
        "examples": [example]
    }))
}

/// Returns the property of a slot, if any event of the dialect has it.
fn used_slot<'d>(dialect: &'d Dialect, api: &'d ApiFile, slot: &str) -> Option<&'d str> {
    let pointer = dialect.file.envelope.0.get(slot).or_else(|| api.slots.get(slot))?;
    let property = pointer.strip_prefix('/')?;
    let has = |event: &dialect::Event| event.file.pointer(&format!("/properties/{property}")).is_some();
    dialect.events.values().any(has).then_some(property)
}

/// Returns the property with the value of the scope, and its type.
fn value_of(name: &str, scope: &Scope, role: Role) -> Option<(String, &'static str)> {
    match (role, name) {
        (Role::Delta, _) => Some(("delta".to_owned(), "string")),
        (Role::Open | Role::Close, "item") => Some(("item".to_owned(), "object")),
        (Role::Open | Role::Close, "part" | "summary_part") => Some(("part".to_owned(), "object")),
        (Role::Point, "annotation") => Some(("annotation".to_owned(), "object")),
        (Role::Final, _) => {
            let last = scope.in_parent.as_ref().and_then(|pointer| pointer.rsplit('/').next());
            Some((last.filter(|segment| !segment.contains('{')).unwrap_or("text").to_owned(), "string"))
        }
        _ => None,
    }
}
