//! What the steps of normalisation share.

use serde_json::{Map, Value, json};

use super::ImportError;
use super::pointer::Pointer;

/// Keywords without effect on validity that are kept.
pub(super) const ANNOTATIONS: &[&str] = &["deprecated", "default"];

/// The result of a step.
pub(super) type Result<T> = std::result::Result<T, ImportError>;

/// The schemas of a document in normal form, and the notes on it.
pub(super) trait Schemas {
    /// Returns the schema of this name in normal form.
    fn named(&mut self, name: &str) -> Result<Value>;

    /// Adds a note.
    fn note(&mut self, place: &Pointer, text: impl Into<String>);

    /// Resolves the reference of a schema in normal form.
    fn resolved(&mut self, schema: &Value) -> Result<Value> {
        match schema.get("$ref").and_then(referred) {
            None => Ok(schema.clone()),
            Some(name) => {
                let target = self.named(name)?;
                self.resolved(&target)
            }
        }
    }
}

/// Adds properties to an object: `type` first, undeclared required ones last.
pub(super) fn members(
    object: &mut Map<String, Value>,
    mut properties: Map<String, Value>,
    required: &[String],
) {
    for name in required {
        if !properties.contains_key(name) {
            properties.insert(name.clone(), json!({}));
        }
    }
    if let Some(kind) = properties.shift_remove("type") {
        properties.shift_insert(0, "type".to_owned(), kind);
    }
    let required: Vec<Value> =
        properties.keys().filter(|name| required.contains(name)).cloned().map(Value::from).collect();
    if !required.is_empty() {
        object.insert("required".to_owned(), Value::Array(required));
    }
    if !properties.is_empty() {
        object.insert("properties".to_owned(), Value::Object(properties));
    }
}

/// Returns the name of the type that a `$ref` in normal form refers to.
pub(super) fn referred(target: &Value) -> Option<&str> {
    target.as_str()?.strip_prefix("../types/")?.strip_suffix(".json")
}

/// Returns the error of a schema that cannot be imported.
pub(super) fn fail(place: &Pointer, found: impl Into<String>, expected: impl Into<String>) -> ImportError {
    ImportError { place: place.to_string(), found: found.into(), expected: expected.into() }
}
