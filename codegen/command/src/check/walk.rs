//! Walks through schemas.

use codegen::schema::visit;
use serde_json::Value;

pub(super) fn properties<'v>(schema: &'v Value, each: &mut impl FnMut(&str, &'v str, &'v Value)) {
    visit(schema, "", &mut |pointer, map| {
        for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            each(pointer, name, property);
        }
    });
}
