//! Converts a JSON Schema bundle, such as one of the types of an SDK, to an equivalent `OpenAPI` document.

use serde_json::{Value, json};

/// `None` if it is not a bundle.
pub(super) fn as_document(bundle: &Value) -> Option<Value> {
    if bundle.get("openapi").is_some() {
        return None;
    }
    let mut schemas = bundle.get("$defs")?.clone();
    refer_to_components(&mut schemas);
    let title = ["title", "$comment"].iter().find_map(|key| bundle.get(*key)?.as_str());
    Some(json!({
        "openapi": "3.1.0",
        "info": { "title": title.unwrap_or("untitled") },
        "components": { "schemas": schemas }
    }))
}

fn refer_to_components(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(target) if key == "$ref" => {
                        if let Some(name) = target.strip_prefix("#/$defs/") {
                            *target = format!("#/components/schemas/{name}");
                        }
                    }
                    inner => refer_to_components(inner),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(refer_to_components),
        _ => {}
    }
}
