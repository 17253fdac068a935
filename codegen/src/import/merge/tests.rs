use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::{ImportRequest, import};
use super::{Laid, Options, merge};
use crate::formats::Published;

fn request() -> ImportRequest {
    let published = Published { events: vec!["ResponseStreamEvent".to_owned()], ..Published::default() };
    ImportRequest { published, ..ImportRequest::default() }
}

/// Returns the files of a dialect with an event `thing.done` that has `schema` as its property `value`.
fn dialect(schema: &Value, types: &Value) -> BTreeMap<String, Value> {
    let event = json!({
        "$id": "thing.done",
        "description": "It happened.",
        "x-lifecycle": { "scope": "item", "role": "close" },
        "type": "object",
        "required": ["type", "value"],
        "properties": { "type": { "const": "thing.done" }, "value": schema }
    });
    let types = types.as_object().unwrap().iter();
    let types = types.map(|(name, schema)| (format!("types/{name}.json"), schema.clone()));
    types.chain([("events/thing.done.json".to_owned(), event)]).collect()
}

/// Returns a bundle whose event has `schema` there.
fn bundle(schema: &Value, types: &Value) -> Value {
    let mut bundle = json!({ "title": "things 2", "$defs": {
        "ResponseStreamEvent": { "anyOf": [{ "$ref": "#/$defs/ThingDone" }] },
        "ThingDone": {
            "type": "object",
            "required": ["type", "value"],
            "properties": { "type": { "const": "thing.done", "type": "string" }, "value": schema }
        }
    } });
    let Value::Object(all) = &mut bundle["$defs"] else { unreachable!() };
    all.extend(types.as_object().unwrap().clone());
    bundle
}

/// Lays a bundle over files, and makes sure that once more changes nothing.
fn laid(files: BTreeMap<String, Value>, document: &Value, since: Option<&Value>) -> Laid {
    let request = request();
    let since = since.map(|since| import(since, &request).unwrap());
    let document = import(document, &request).unwrap();
    let roots = BTreeMap::new();
    let options = Options { root: "response", since: since.as_ref(), variant: None };
    let once = merge(files, &roots, &document, &options);
    let (twice, _) = merge(once.0.clone(), &roots, &document, &options);
    assert_eq!(once.0, twice);
    once
}

/// Returns the property after merging a bundle into a dialect.
fn value(old: &Value, new: &Value) -> Value {
    let (files, _) = laid(dialect(old, &json!({})), &bundle(new, &json!({})), None);
    files["events/thing.done.json"]["properties"]["value"].clone()
}

#[test]
fn what_is_ours_and_what_is_stricter_stays() {
    let old = json!({ "description": "Ours.", "type": "integer", "minimum": 1 });
    assert_eq!(value(&old, &json!({ "type": "number" })), old);
    assert_eq!(
        value(&json!({ "type": "string", "maxLength": 3 }), &json!({ "type": "string" }))["maxLength"],
        3
    );
    assert_eq!(value(&json!({}), &json!({ "type": "string" })), json!({}));
}

#[test]
fn what_is_new_is_added() {
    let old = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string" } } });
    let new = json!({
        "type": "object",
        "required": ["a", "b"],
        "properties": { "b": { "type": "integer" }, "a": { "type": "string" } }
    });
    let both = value(&old, &new);
    assert_eq!(both["properties"]["b"], json!({ "type": "integer" }));
    assert_eq!(both["required"], json!(["a"]), "nothing becomes stricter");
    assert_eq!(
        value(
            &json!({ "type": "string" }),
            &json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": {} }] })
        ),
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": {} }] })
    );
}

#[test]
fn what_is_not_there_any_more_is_no_longer_required() {
    let old = json!({ "type": "object", "required": ["a", "b"], "properties": { "a": {}, "b": { "type": "string" } } });
    let new = json!({ "type": "object", "required": ["a"], "properties": { "a": {} } });
    let (files, notes) = laid(dialect(&old, &json!({})), &bundle(&new, &json!({})), None);
    let both = &files["events/thing.done.json"]["properties"]["value"];
    assert_eq!((&both["required"], &both["properties"]["b"]["type"]), (&json!(["a"]), &json!("string")));
    assert!(
        notes.iter().any(|note| note.text.contains("`b` is no longer required: not in the document")),
        "{notes:?}"
    );
}

#[test]
fn only_a_change_makes_a_property_optional() {
    let types = |required: &[&str]| {
        json!({ "Part": {
        "type": "object", "required": required, "properties": { "a": {}, "b": { "type": "string" } }
    } })
    };
    let part = json!({ "$ref": "#/$defs/Part" });
    let own = json!({ "Part": types(&["a", "b"])["Part"] });
    let files = || dialect(&json!({ "$ref": "../types/Part.json" }), &own);
    let newer = bundle(&part, &types(&["a"]));
    let required =
        |since: &Value| laid(files(), &newer, Some(since)).0["types/Part.json"]["required"].clone();
    assert_eq!(
        required(&bundle(&part, &types(&["a"]))),
        json!(["a", "b"]),
        "it was so before: the SDK is lax"
    );
    assert_eq!(required(&bundle(&part, &types(&["a", "b"]))), json!(["a"]));
}

#[test]
fn enumerations_grow_and_a_person_decides_whether_they_go_on() {
    let old = json!({ "type": "string", "enum": ["a", "b"] });
    let grown = value(&old, &json!({ "type": "string", "enum": ["b", "c"] }));
    assert_eq!(grown["enum"], json!(["a", "b", "c"]));
    assert!(grown["x-open"].as_str().unwrap().starts_with("TODO: added c"), "{grown}");

    let free = json!({ "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "string" }] });
    let opened = value(&old, &free);
    assert!(opened["x-open"].as_str().unwrap().contains("allows any string"), "{opened}");

    let decided = json!({ "type": "string", "enum": ["a"], "x-closed": "States." });
    let both = value(&decided, &json!({ "type": "string", "enum": ["a", "b"] }));
    assert_eq!(both, json!({ "type": "string", "enum": ["a", "b"], "x-closed": "States." }));
}

#[test]
fn branches_are_told_apart_by_their_type() {
    let of = |tag: &str, more: &Value| {
        let mut properties = json!({ "type": { "const": tag } });
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "type": "object", "required": ["type"], "properties": properties })
    };
    let own = json!({
        "Items": { "$id": "Items", "anyOf": [{ "$ref": "../types/Call.json" }, { "$ref": "../types/Text.json" }] },
        "Call": of("call", &json!({ "id": { "type": "string" } })),
        "Text": of("text", &json!({})),
    });
    let sdk = json!({
        "sdk__module__ToolCall": of("call", &json!({ "id": { "type": "string" }, "async": { "type": "boolean" } })),
        "Update": of("update", &json!({ "call": { "$ref": "#/$defs/sdk__module__ToolCall" } })),
    });
    let union =
        json!({ "anyOf": [{ "$ref": "#/$defs/Update" }, { "$ref": "#/$defs/sdk__module__ToolCall" }] });
    let (files, _) =
        laid(dialect(&json!({ "$ref": "../types/Items.json" }), &own), &bundle(&union, &sdk), None);
    assert_eq!(files["types/Call.json"]["properties"]["async"], json!({ "type": "boolean" }));
    assert_eq!(files["types/Items.json"]["anyOf"][2], json!({ "$ref": "../types/Update.json" }));
    assert_eq!(
        files["types/Update.json"]["properties"]["call"],
        json!({ "$ref": "../types/Call.json" }),
        "a type that both have keeps the dialect's name"
    );
    assert_eq!(files.len(), 5);
}

#[test]
fn a_new_event_comes_with_a_guess_of_its_place() {
    let mut document = bundle(&json!({}), &json!({}));
    for (name, kind) in [("Grown", "thing.delta"), ("Ended", "other.completed")] {
        document["$defs"][name] = json!({
            "type": "object",
            "required": ["type", "delta"],
            "properties": { "type": { "const": kind, "type": "string" }, "delta": { "type": "string" } }
        });
        let union = document["$defs"]["ResponseStreamEvent"]["anyOf"].as_array_mut().unwrap();
        union.push(json!({ "$ref": format!("#/$defs/{name}") }));
    }
    let (files, _) = laid(dialect(&json!({}), &json!({})), &document, None);
    let place = |event: &str| files[&format!("events/{event}.json")]["x-lifecycle"].clone();
    assert_eq!(place("thing.delta"), json!({ "scope": "TODO: item", "role": "delta", "value": "/delta" }));
    assert_eq!(place("other.completed"), json!({ "scope": "TODO: response", "role": "point" }));
    let example = &files["events/thing.delta.json"]["examples"][0];
    assert_eq!(example, &json!({ "type": "thing.delta", "delta": "TODO: a value that the product sends" }));
}
