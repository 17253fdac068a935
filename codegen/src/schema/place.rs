//! Places in schemas.

use super::{Additional, Registry, Schema, StringRules};

/// Returns whether the schema declares a property at this JSON pointer. The segment `*` and one in braces, such as
/// `{output_index}`, are any index.
pub fn leads_somewhere(registry: Registry<'_>, schema: &Schema, pointer: &str) -> bool {
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

/// Returns the schema of the value at a JSON pointer, if no union is around it.
pub fn schema_at<'s>(registry: Registry<'s>, schema: &'s Schema, pointer: &str) -> Option<&'s Schema> {
    let Some(rest) = pointer.strip_prefix('/') else { return Some(schema) };
    let (segment, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match registry.resolve(schema) {
        Schema::Nullable(inner) => schema_at(registry, inner, pointer),
        Schema::Array(array) if segment == "*" => schema_at(registry, &array.items, rest),
        Schema::Object(object) => {
            let property = object.property(&segment.replace("~1", "/").replace("~0", "~"))?;
            schema_at(registry, &property.schema, rest)
        }
        _ => None,
    }
}

/// Returns whether a value remains valid, and as new as it was, if its text at this JSON pointer becomes any other one.
pub fn takes_any_text(registry: Registry<'_>, schema: &Schema, pointer: &str) -> bool {
    let step =
        pointer.strip_prefix('/').map(|rest| rest.find('/').map_or((rest, ""), |at| rest.split_at(at)));
    match (registry.resolve(schema), step) {
        (Schema::Any, _) => true,
        (Schema::String(rules), None) => *rules == StringRules::default(),
        (Schema::Nullable(inner), _) => takes_any_text(registry, inner, pointer),
        (Schema::Union(branches), Some(_)) => branches
            .iter()
            .filter(|branch| leads_somewhere(registry, branch, pointer))
            .all(|branch| takes_any_text(registry, branch, pointer)),
        (Schema::Array(array), Some((_, rest))) => takes_any_text(registry, &array.items, rest),
        (Schema::Object(object), Some((segment, rest))) => {
            let name = segment.replace("~1", "/").replace("~0", "~");
            match (object.property(&name), &object.additional) {
                (Some(property), _) => takes_any_text(registry, &property.schema, rest),
                (None, Additional::Typed(values)) => takes_any_text(registry, values, rest),
                (None, _) => true,
            }
        }
        _ => false,
    }
}
