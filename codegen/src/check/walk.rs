//! Walks through schemas.

use serde_json::{Map, Value};

/// Calls `each` with the pointer, name and schema of every property inside a schema in normal form.
pub(super) fn properties<'v>(
    schema: &'v Value,
    pointer: &str,
    each: &mut impl FnMut(&str, &'v str, &'v Value),
) {
    let Value::Object(map) = schema else { return };
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = map.get(keyword) {
            properties(inner, &format!("{pointer}/{keyword}"), each);
        }
    }
    for (index, branch) in map.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate() {
        properties(branch, &format!("{pointer}/anyOf/{index}"), each);
    }
    for (name, property) in declared(map) {
        let pointer = format!("{pointer}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
        each(&pointer, name, property);
        properties(property, &pointer, each);
    }
}

fn declared(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.get("properties").and_then(Value::as_object).into_iter().flatten()
}
