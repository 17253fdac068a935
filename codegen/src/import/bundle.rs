//! Converts a JSON Schema bundle, such as one of the types of an SDK, to an equivalent `OpenAPI` document.

use serde_json::{Map, Value, json};

/// Bodies in documents, and the names of their types in SDKs.
const BODIES: &[(&str, &str, &str)] = &[
    ("/responses", "requestBody", "ResponseCreateParamsNonStreaming"),
    ("/responses", "200", "Response"),
    ("/responses/compact", "200", "CompactedResponse"),
    ("/responses/{response_id}/input_items", "200", "ResponseItemList"),
];

/// Returns the document of a bundle; `None` if it is not a bundle.
pub(super) fn as_document(bundle: &Value) -> Option<Value> {
    if bundle.get("openapi").is_some() {
        return None;
    }
    let mut schemas = bundle.get("$defs")?.clone();
    refer_to_components(&mut schemas);
    let mut paths = Map::new();
    for (path, place, name) in BODIES.iter().filter(|(_, _, name)| schemas.get(name).is_some()) {
        let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
        let body = json!({ "content": { "application/json": { "schema": reference } } });
        let method = if path.ends_with("input_items") { "get" } else { "post" };
        let operation = &mut paths.entry(*path).or_insert_with(|| json!({}))[method];
        match *place {
            "requestBody" => operation["requestBody"] = body,
            status => operation["responses"][status] = body,
        }
    }
    let title = ["title", "$comment"].iter().find_map(|key| bundle.get(*key)?.as_str());
    Some(json!({
        "openapi": "3.1.0",
        "info": { "title": title.unwrap_or("untitled") },
        "paths": paths,
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
