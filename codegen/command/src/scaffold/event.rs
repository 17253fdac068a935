use std::path::PathBuf;

use anyhow::{anyhow, ensure};
use codegen::dialect::{self, Dialect};
use codegen::formats::{ApiFile, EventLine, Role, Scope};
use codegen::todo::todo;
use serde_json::{Value, json};

use super::Skeleton;

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
    let mut next = vec![
        "describe the event in `description`, and declare its properties".to_owned(),
        "replace the example by a recorded event".to_owned(),
        format!(
            "if the dialect is imported and its document does not have the event, name the file under `adds` in \
             dialects/{in_dialect}/errata.toml, so that the next import keeps it"
        ),
    ];
    if !dialect.file.framing.types.is_empty() {
        next.push(format!(
            "its data has no `type`: add the member by which it is recognised to `types` under [framing] of \
             dialects/{in_dialect}/dialect.toml"
        ));
    }
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
    let (mut schema, mut example) = (Value::Null, Value::Null);
    let mut declare = |pointer: &str, of_value: Value, value: Value| {
        let path: Vec<&str> = pointer.split('/').skip(1).collect();
        self::declare((&mut schema, &mut example), &path, (of_value, value));
    };
    let framing = &dialect.file.framing;
    if framing.event_line != EventLine::Discriminator && framing.types.is_empty() {
        declare("/type", json!({ "const": name }), json!(name));
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
    // The entries of lists that hold the key, and thus the value.
    let mut entries = String::new();
    for slot in &scope.key {
        let Some(pointer) = dialect.file.envelope.0.get(slot).or_else(|| api.slots.get(slot)) else {
            continue;
        };
        declare(pointer, json!({ "type": "integer" }), json!(0));
        if let Some((around, _)) =
            pointer.rsplit_once("/*").filter(|(around, _)| around.len() >= entries.len())
        {
            entries = format!("{around}/*");
        }
    }
    if role == Role::Phase {
        let own = name.rsplit('.').next().unwrap_or(name);
        let known = || scope.phases.iter().chain(&scope.ends);
        let phase = known().find(|phase| *phase == own).or_else(|| known().next());
        let phase = phase.ok_or_else(|| anyhow!("the scope \"{scope_name}\" has no phases; see api.toml"))?;
        lifecycle["phase"] = json!(phase);
    } else if let Some((value, kind)) = value_of(scope_name, scope, role) {
        let pointer = format!("{entries}/{value}");
        lifecycle["value"] = json!(pointer);
        let description = todo("one sentence on the value of this event");
        let sent = todo("a value that the product sends");
        let sample = if kind == "object" { json!({ "type": sent }) } else { json!(sent) };
        declare(&pointer, json!({ "description": description, "type": kind }), sample);
    }
    if !entries.is_empty() {
        if lifecycle.get("value").is_none() {
            lifecycle["value"] = json!(entries);
        }
        lifecycle = json!([lifecycle]);
    }
    let part = |name: &str, usual: Value| schema.get(name).cloned().unwrap_or(usual);
    Ok(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": name,
        "description": todo("one sentence on what happened"),
        "x-lifecycle": lifecycle,
        "type": "object",
        "required": part("required", json!([])),
        "properties": part("properties", json!({})),
        "examples": [if example.is_null() { json!({}) } else { example }]
    }))
}

/// `*` stands for each entry of a list.
fn declare((schema, example): (&mut Value, &mut Value), path: &[&str], (of_value, value): (Value, Value)) {
    match path {
        [] => (*schema, *example) = (of_value, value),
        ["*", rest @ ..] => {
            if schema.is_null() {
                (*schema, *example) = (json!({ "type": "array", "items": null }), json!([null]));
            }
            declare((&mut schema["items"], &mut example[0]), rest, (of_value, value));
        }
        [name, rest @ ..] => {
            if schema.is_null() {
                (*schema, *example) =
                    (json!({ "type": "object", "required": [], "properties": {} }), json!({}));
            }
            if let Some(required) = schema["required"].as_array_mut()
                && !required.iter().any(|known| known == name)
            {
                required.push(json!(name));
            }
            declare((&mut schema["properties"][*name], &mut example[*name]), rest, (of_value, value));
        }
    }
}

fn used_slot<'d>(dialect: &'d Dialect, api: &'d ApiFile, slot: &str) -> Option<&'d str> {
    let pointer = dialect.file.envelope.0.get(slot).or_else(|| api.slots.get(slot))?;
    let has = |event: &dialect::Event| event.file.pointer(&format!("/properties{pointer}")).is_some();
    dialect.events.values().any(has).then_some(pointer)
}

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
