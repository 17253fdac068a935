//! Places in schemas.

use serde_json::{Map, Value};

use super::escape;
use super::{Additional, Registry, Schema, StringRules, unescape};

/// `None` if the pointer is empty or invalid.
pub(crate) fn first_segment(pointer: &str) -> Option<(&str, &str)> {
    let rest = pointer.strip_prefix('/')?;
    Some(rest.find('/').map_or((rest, ""), |at| rest.split_at(at)))
}

/// Returns whether the schema declares a property at this JSON pointer. The segment `*` and one in braces, such as
/// `{output_index}`, are any index.
pub fn leads_somewhere(registry: Registry<'_>, schema: &Schema, pointer: &str) -> bool {
    let Some((segment, rest)) = first_segment(pointer) else { return pointer.is_empty() };
    match registry.resolve(schema) {
        Schema::Nullable(inner) => leads_somewhere(registry, inner, pointer),
        Schema::Union(branches) => branches.iter().any(|branch| leads_somewhere(registry, branch, pointer)),
        Schema::Array(array)
            if segment == "*" || segment.starts_with('{') || segment.parse::<u32>().is_ok() =>
        {
            leads_somewhere(registry, &array.items, rest)
        }
        Schema::Object(object) => {
            let name = unescape(segment);
            match (object.property(&name), &object.additional) {
                (Some(property), _) => leads_somewhere(registry, &property.schema, rest),
                (None, Additional::Typed(values)) => leads_somewhere(registry, values, rest),
                (None, _) => false,
            }
        }
        _ => false,
    }
}

/// Returns the schema of the value at a JSON pointer, if no union is around it.
pub fn schema_at<'s>(registry: Registry<'s>, schema: &'s Schema, pointer: &str) -> Option<&'s Schema> {
    let Some((segment, rest)) = first_segment(pointer) else { return Some(schema) };
    match registry.resolve(schema) {
        Schema::Nullable(inner) => schema_at(registry, inner, pointer),
        Schema::Array(array) if segment == "*" => schema_at(registry, &array.items, rest),
        Schema::Object(object) => {
            let property = object.property(&unescape(segment))?;
            schema_at(registry, &property.schema, rest)
        }
        _ => None,
    }
}

/// Returns whether a value remains valid, and as new as it was, if its text at this JSON pointer becomes any other one.
pub fn takes_any_text(registry: Registry<'_>, schema: &Schema, pointer: &str) -> bool {
    match (registry.resolve(schema), first_segment(pointer)) {
        (Schema::Any, _) => true,
        (Schema::String(rules), None) => *rules == StringRules::default(),
        (Schema::Nullable(inner), _) => takes_any_text(registry, inner, pointer),
        (Schema::Union(branches), Some(_)) => branches
            .iter()
            .filter(|branch| leads_somewhere(registry, branch, pointer))
            .all(|branch| takes_any_text(registry, branch, pointer)),
        (Schema::Array(array), Some((_, rest))) => takes_any_text(registry, &array.items, rest),
        (Schema::Object(object), Some((segment, rest))) => {
            let name = unescape(segment);
            match (object.property(&name), &object.additional) {
                (Some(property), _) => takes_any_text(registry, &property.schema, rest),
                (None, Additional::Typed(values)) => takes_any_text(registry, values, rest),
                (None, _) => true,
            }
        }
        _ => false,
    }
}

/// Visits the JSON of a schema and of all schemas in it, each with its JSON pointer.
pub fn visit<'v>(schema: &'v Value, pointer: &str, each: &mut impl FnMut(&str, &'v Map<String, Value>)) {
    let Value::Object(map) = schema else { return };
    each(pointer, map);
    for keyword in ["items", "additionalProperties", "propertyNames"] {
        if let Some(inner) = map.get(keyword) {
            visit(inner, &format!("{pointer}/{keyword}"), each);
        }
    }
    for (index, branch) in map.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate() {
        visit(branch, &format!("{pointer}/anyOf/{index}"), each);
    }
    for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        visit(property, &format!("{pointer}/properties/{}", escape(name)), each);
    }
}
