//! Sample payloads for a schema, which a person replaces by recorded ones.

use std::collections::BTreeMap;

use codegen::todo::todo;
use serde_json::{Map, Value, json};

use super::schemas::referred;

pub(super) fn sample(schema: &Value, files: &BTreeMap<String, Value>) -> Value {
    if let Some(name) = schema.get("$ref").and_then(referred) {
        return files.get(&format!("types/{name}.json")).map_or(Value::Null, |schema| sample(schema, files));
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = ["anyOf", "enum"].iter().find_map(|key| schema.get(*key)?.get(0)) {
        return if first.is_object() { sample(first, files) } else { first.clone() };
    }
    let kind = schema.get("type");
    match kind.and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str())) {
        Some("string") => json!(todo("a value that the product sends")),
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => {
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            let value = |name: &str| sample(&schema["properties"][name], files);
            Value::Object(names.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
