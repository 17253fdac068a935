//! Merges `allOf` into one schema.

use serde_json::{Map, Value, json};

use super::Normaliser;
use crate::import::pointer::Pointer;
use crate::import::schemas::{ANNOTATIONS, Result, fail, members, referred, without_null};
use crate::import::text::ordered;

/// Keywords of an object that can be merged with another.
const MERGEABLE: &[&str] = &["type", "required", "properties"];

pub(super) fn merge(schemas: &mut Normaliser<'_>, parts: Vec<(Value, Pointer)>) -> Result<Value> {
    let mut merged = json!({});
    for (part, here) in parts {
        merged = intersect(schemas, &here, merged, part)?;
    }
    Ok(merged)
}

/// The annotations of `right` win.
fn intersect(schemas: &mut Normaliser<'_>, place: &Pointer, left: Value, right: Value) -> Result<Value> {
    let (mut bare_left, mut notes) = split(left);
    let (mut bare_right, right_notes) = split(right);
    notes.extend(right_notes);
    if narrower(schemas, &bare_right, &bare_left)? {
        std::mem::swap(&mut bare_left, &mut bare_right);
    } else if !narrower(schemas, &bare_left, &bare_right)? {
        bare_left = combined(schemas, place, &bare_left, &bare_right)?;
    }
    let Value::Object(mut out) = bare_left else { return Ok(bare_left) };
    out.extend(notes);
    Ok(ordered(out))
}

fn split(schema: Value) -> (Value, Map<String, Value>) {
    let Value::Object(map) = schema else { return (schema, Map::new()) };
    let (notes, rest): (Map<_, _>, Map<_, _>) =
        map.into_iter().partition(|(key, _)| ANNOTATIONS.contains(&key.as_str()));
    (Value::Object(rest), notes)
}

fn narrower(schemas: &mut Normaliser<'_>, left: &Value, right: &Value) -> Result<bool> {
    if left == right || *right == json!({}) || impossible(left) {
        return Ok(true);
    }
    if *left == json!({}) {
        return Ok(false);
    }
    for (reference, other) in [(left, right), (right, left)] {
        if reference.get("$ref").is_some() {
            let (target, _) = split(schemas.resolved(reference)?);
            if equal(&target, other) {
                return Ok(true);
            }
        }
    }
    if let Some(Value::Array(branches)) = right.get("anyOf")
        && branches.contains(left)
    {
        return Ok(true);
    }
    if let (Some(Value::Array(few)), Some(Value::Array(many))) = (left.get("enum"), right.get("enum")) {
        return Ok(few.iter().all(|value| many.contains(value)));
    }
    if let Some(value) = left.get("const") {
        let any_string = right.get("enum").is_none() && right.as_object().is_some_and(|map| map.len() == 1);
        return Ok(match right.get("enum") {
            Some(Value::Array(many)) => many.contains(value),
            _ => value.is_string() && any_string && right.get("type").is_some_and(|kind| kind == "string"),
        });
    }
    let (plain, is_nullable) = without_null(right);
    Ok(is_nullable && plain == *left)
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left.get("enum"), right.get("enum")) {
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len() && a.iter().all(|value| b.contains(value))
        }
        _ => left == right,
    }
}

/// Some documents forbid a property by contradictory limits of length.
fn impossible(schema: &Value) -> bool {
    let limit = |name| schema.get(name).and_then(Value::as_u64);
    matches!((limit("minLength"), limit("maxLength")), (Some(least), Some(most)) if least > most)
}

fn combined(schemas: &mut Normaliser<'_>, place: &Pointer, left: &Value, right: &Value) -> Result<Value> {
    let left = split(schemas.resolved(left)?).0;
    let right = split(schemas.resolved(right)?).0;
    if let (Some(Value::Array(a)), Some(Value::Array(b))) = (left.get("enum"), right.get("enum")) {
        let shared: Vec<&Value> = a.iter().filter(|value| b.contains(value)).collect();
        if shared.len() > 1 {
            schemas.note(
                place,
                format!("enums that overlap in `allOf`; kept their common values: {}", json!(shared)),
            );
            return Ok(json!({ "type": "string", "enum": shared }));
        }
    }
    let mergeable = |schema: &Value| {
        schema.get("type").is_some_and(|kind| kind == "object")
            && schema.as_object().is_some_and(|map| map.keys().all(|key| MERGEABLE.contains(&key.as_str())))
    };
    if !mergeable(&left) || !mergeable(&right) {
        return Err(fail(
            place,
            format!("incompatible members of `allOf`: {} and {}", brief(&left), brief(&right)),
            "objects with only properties, or schemas of which one obviously includes the other",
        ));
    }
    let mut properties = left.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, schema) in right.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let merged = match properties.get(name) {
            None => schema.clone(),
            Some(known) => {
                intersect(schemas, &place.at("properties").at(name), known.clone(), schema.clone())?
            }
        };
        properties.insert(name.clone(), merged);
    }
    let required: Vec<String> = [&left, &right]
        .into_iter()
        .filter_map(|schema| schema.get("required")?.as_array())
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let mut out = Map::new();
    out.insert("type".to_owned(), Value::from("object"));
    members(&mut out, properties, &required);
    Ok(ordered(out))
}

fn brief(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(referred) {
        return name.to_owned();
    }
    let text = schema.to_string();
    match text.char_indices().nth(80) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
