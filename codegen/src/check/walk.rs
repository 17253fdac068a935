//! Walks through schemas.

use serde_json::{Map, Value};

use crate::schema::{Additional, Registry, Schema};

/// Returns whether the schema declares a property at this JSON pointer. The segment `*` and one in braces, such as
/// `{output_index}`, are any index.
pub(super) fn leads_somewhere(registry: Registry<'_>, schema: &Schema, pointer: &str) -> bool {
    let Some(rest) = pointer.strip_prefix('/') else { return pointer.is_empty() };
    let (segment, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match registry.resolve(schema) {
        Schema::Nullable(inner) => leads_somewhere(registry, inner, pointer),
        Schema::Union(branches) => branches.iter().any(|branch| leads_somewhere(registry, branch, pointer)),
        Schema::Array(array)
            if segment == "*" || segment.starts_with('{') || segment.parse::<u32>().is_ok() =>
        {
            leads_somewhere(registry, &array.items, rest)
        }
        Schema::Object(object) => {
            let name = segment.replace("~1", "/").replace("~0", "~");
            match (object.property(&name), &object.additional) {
                (Some(property), _) => leads_somewhere(registry, &property.schema, rest),
                (None, Additional::Typed(values)) => leads_somewhere(registry, values, rest),
                (None, _) => false,
            }
        }
        _ => false,
    }
}

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
