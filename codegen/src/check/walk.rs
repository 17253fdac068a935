//! Walks through schemas.

use serde_json::Value;

use crate::schema::visit;

/// Calls `each` with every property inside a schema in normal form: the pointer to its object, its name and its schema.
pub(super) fn properties<'v>(schema: &'v Value, each: &mut impl FnMut(&str, &'v str, &'v Value)) {
    visit(schema, "", &mut |pointer, map| {
        for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            each(pointer, name, property);
        }
    });
}
