//! The text format of schemas.

use serde_json::{Map, Value};

/// Keywords in the order of files.
const ORDER: &[&str] = &[
    "$schema",
    "$id",
    "description",
    "deprecated",
    "x-lifecycle",
    "$ref",
    "anyOf",
    "const",
    "type",
    "enum",
    "x-open",
    "x-closed",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "required",
    "properties",
    "additionalProperties",
    "propertyNames",
    "maxProperties",
    "default",
    "examples",
];

/// Nested schemas keep their order.
pub(super) fn ordered(map: Map<String, Value>) -> Value {
    let rank = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
    let mut entries: Vec<(String, Value)> = map.into_iter().collect();
    entries.sort_by_key(|(key, _)| rank(key));
    Value::Object(entries.into_iter().collect())
}

pub(super) fn print(value: &Value) -> String {
    format!("{value:#}\n")
}
