//! Parts that all steps of normalisation share.

use serde_json::{Map, Value, json};

use super::ImportError;
use super::pointer::Pointer;

/// Keywords without effect on validity that are kept.
pub(super) const ANNOTATIONS: &[&str] = &["deprecated", "default"];

pub(super) type Result<T> = std::result::Result<T, ImportError>;

/// `type` comes first, undeclared required members last.
pub(super) fn members(
    object: &mut Map<String, Value>,
    mut properties: Map<String, Value>,
    required: &[String],
) {
    for name in required {
        if !properties.contains_key(name) {
            properties.insert(name.clone(), json!({}));
        }
    }
    if let Some(kind) = properties.shift_remove("type") {
        properties.shift_insert(0, "type".to_owned(), kind);
    }
    let required: Vec<Value> =
        properties.keys().filter(|name| required.contains(name)).cloned().map(Value::from).collect();
    if !required.is_empty() {
        object.insert("required".to_owned(), Value::Array(required));
    }
    if !properties.is_empty() {
        object.insert("properties".to_owned(), Value::Object(properties));
    }
}

pub(super) fn referred(target: &Value) -> Option<&str> {
    target.as_str()?.strip_prefix("../types/")?.strip_suffix(".json")
}

pub(super) fn values(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(list))) => Some(list.clone()),
        _ => None,
    }
}

pub(super) fn without_null(schema: &Value) -> (Value, bool) {
    match schema.get("type") {
        Some(Value::Array(names)) => {
            let mut plain = schema.clone();
            plain["type"] = names.first().cloned().unwrap_or_default();
            (plain, true)
        }
        _ => (schema.clone(), false),
    }
}

pub(super) fn requires(object: &Value, name: &str) -> bool {
    object.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|other| other == name))
}

pub(super) fn fail(place: &Pointer, found: impl Into<String>, expected: impl Into<String>) -> ImportError {
    ImportError { place: place.to_string(), found: found.into(), expected: expected.into() }
}
