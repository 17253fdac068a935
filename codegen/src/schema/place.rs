//! Places in schemas.

use super::{Additional, Registry, Schema};

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
