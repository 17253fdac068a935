//! Merges an object of the document into one of the dialect.

use serde_json::{Map, Value, json};

use super::leaves::{Kind, Leaf};
use super::{FilePointer, Merge, Phase, type_file};
use crate::import::normal::nullable;
use crate::import::schemas::{members, requires};

impl Merge<'_> {
    pub(super) fn lay_object(&mut self, leaf: &Leaf, old: &Value, place: &FilePointer) {
        let new = &leaf.schema;
        let properties =
            |schema: &Value| schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let (new_properties, old_properties) = (properties(new), properties(old));
        for (name, schema) in &new_properties {
            if old_properties.contains_key(name) {
                self.pair(schema, &place.property(name));
                if requires(new, name) {
                    self.allow_null(schema, &place.property(name));
                }
            } else if new_properties.len() > 1 || old_properties.is_empty() {
                self.add_property(name, schema, place);
            }
        }
        for name in old_properties.keys().filter(|name| requires(old, name)) {
            let demanded = requires(new, name)
                || new_properties.contains_key(name) && !self.was_required(leaf, place, name);
            let key = (place.clone(), name.clone());
            match self.phase {
                Phase::Look => *self.demands.entry(key).or_default() |= demanded,
                Phase::Write if self.demands.get(&key) == Some(&false) => {
                    let known = new_properties.contains_key(name);
                    let what = if known { "now optional in the document" } else { "not in the document" };
                    self.note(place, format!("`{name}` is no longer required: {what}"));
                    self.edit(place, |object| loosen(object, name));
                }
                Phase::Write => {}
            }
        }
        if let (Some(values), Some(Value::Object(_))) =
            (new.get("additionalProperties"), old.get("additionalProperties"))
        {
            self.pair(values, &place.at("additionalProperties"));
        }
    }

    /// SDKs declare many properties optional that a server always sends, so only a change is meaningful.
    fn was_required(&self, leaf: &Leaf, place: &FilePointer, name: &str) -> bool {
        let file = leaf.name.as_deref().map_or_else(|| place.file.clone(), type_file);
        self.since.and_then(|since| since.get(&file)).is_some_and(|before| requires(before, name))
    }

    fn add_property(&mut self, name: &str, schema: &Value, place: &FilePointer) {
        if self.phase == Phase::Look {
            return;
        }
        let adopted = self.adopted(schema);
        self.edit(place, |object| {
            if let Value::Object(map) = object {
                let required = names(map);
                let mut properties =
                    map.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
                properties.insert(name.to_owned(), adopted);
                members(map, properties, &required);
            }
        });
    }

    /// In an SDK, every optional property allows null.
    fn allow_null(&mut self, new: &Value, place: &FilePointer) {
        let is_null = |kind: Kind| kind == Kind::Null;
        if self.leaves_of_document(new).iter().any(|leaf| is_null(leaf.kind()))
            && self
                .leaves_of_dialect(place)
                .iter()
                .all(|(_, old)| !is_null(old.kind()) && old.kind() != Kind::Any)
        {
            self.note(place, "also allows null");
            self.edit(place, |schema| *schema = nullable(schema.take()));
        }
    }
}

fn names(object: &Map<String, Value>) -> Vec<String> {
    let required = object.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn loosen(object: &mut Value, name: &str) {
    let Value::Object(map) = object else { return };
    let left: Vec<String> = names(map).into_iter().filter(|other| other != name).collect();
    if left.is_empty() {
        map.shift_remove("required");
    } else {
        map.insert("required".to_owned(), json!(left));
    }
}
