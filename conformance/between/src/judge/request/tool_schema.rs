//! Schemas of tools in a normal form, so that equal schemas are the same.

use serde_json::{Map, Value, json};

/// Maximum depth of references, as schemas may refer to themselves.
const DEPTH: usize = 12;
/// Where a schema has its definitions.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Replaces local references by their targets, and drops keywords that demand nothing. A missing schema allows any
/// object.
pub(in crate::judge) fn plain(schema: &Value) -> Value {
    let mut whole = replaced(schema, schema, DEPTH);
    if let Value::Object(members) = &mut whole {
        for name in DEFINITIONS.into_iter().chain(["$schema"]) {
            members.remove(name);
        }
        members.entry("type").or_insert_with(|| json!("object"));
    }
    if whole.is_null() {
        whole = json!({"type": "object"});
    }
    without_idle(&mut whole);
    whole
}

fn replaced(schema: &Value, root: &Value, depth: usize) -> Value {
    match schema {
        Value::Object(members) => {
            let target = members.get("$ref").and_then(Value::as_str);
            let found = target.and_then(|target| root.pointer(target.strip_prefix('#')?));
            if let Some(found) = found.filter(|_| depth > 0) {
                return replaced(found, root, depth - 1);
            }
            let inner = members.iter().map(|(name, value)| (name.clone(), replaced(value, root, depth)));
            Value::Object(inner.collect())
        }
        Value::Array(values) => values.iter().map(|value| replaced(value, root, depth)).collect(),
        other => other.clone(),
    }
}

fn without_idle(schema: &mut Value) {
    let is_idle = |name: &str, value: &Value| match name {
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "properties" => value.as_object().is_some_and(Map::is_empty),
        _ => false,
    };
    match schema {
        Value::Object(members) => {
            members.retain(|name, value| !is_idle(name, value));
            members.values_mut().for_each(without_idle);
        }
        Value::Array(values) => values.iter_mut().for_each(without_idle),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_schemas_are_the_same() {
        let stop = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        for (one, other, is_same) in [
            (json!(null), json!({}), true),
            (json!({}), json!({"type": "object", "properties": {}, "required": []}), true),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/stop"}}, "$defs": {"stop": stop}}),
                json!({"type": "object", "properties": {"a": stop}}),
                true,
            ),
            (json!({"required": ["a"]}), json!({}), false),
            (json!({"properties": {"a": {"$ref": "#/$defs/b"}}}), json!({"properties": {"a": {}}}), false),
        ] {
            assert_eq!(plain(&one) == plain(&other), is_same, "{one} {other}");
        }
        // It refers to itself.
        let endless = json!({"properties": {"a": {"$ref": "#"}}});
        assert!(plain(&endless).is_object());
    }
}
