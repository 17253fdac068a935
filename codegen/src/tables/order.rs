//! The usual order of members, taken from the examples.
//!
//! A validator that expects the right member next needs no lookup of its name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::names::{self, event_path, type_path};
use crate::schema::{Kind, Object, Property, Registry, Schema};

/// The observed order of members, by the path of the object.
#[derive(Debug, Default)]
pub(super) struct UsualOrder {
    seen: BTreeMap<String, Vec<String>>,
}

impl UsualOrder {
    pub(super) fn learn(dialect: &Dialect) -> Self {
        let mut order = Self::default();
        let registry = dialect.registry();
        for event in dialect.events.values() {
            for example in &event.examples {
                order.walk(registry, &event.schema, &event_path(&event.name), example);
            }
        }
        order
    }

    /// Returns the members of an object: first as examples order them, then the others.
    pub(super) fn members<'o>(&self, path: &str, object: &'o Object) -> Vec<&'o Property> {
        let seen = self.seen.get(path).map(Vec::as_slice).unwrap_or_default();
        let mut members: Vec<&Property> = object.properties.iter().collect();
        members.sort_by_key(|property| {
            seen.iter().position(|name| *name == property.name).unwrap_or(usize::MAX)
        });
        members
    }

    fn walk(&mut self, registry: Registry<'_>, schema: &Schema, path: &str, value: &Value) {
        match schema {
            Schema::Ref(name) => {
                if let Some(target) = registry.get(name) {
                    self.walk(registry, target, &type_path(name), value);
                }
            }
            Schema::Nullable(inner) => self.walk(registry, inner, path, value),
            Schema::Array(array) => {
                for entry in value.as_array().into_iter().flatten() {
                    self.walk(registry, &array.items, &format!("{path}_item"), entry);
                }
            }
            Schema::Object(object) => {
                let Some(members) = value.as_object() else { return };
                self.note(path, members.keys());
                for property in &object.properties {
                    if let Some(value) = members.get(&property.name) {
                        self.walk(
                            registry,
                            &property.schema,
                            &format!("{path}_{}", names::snake(&property.name)),
                            value,
                        );
                    }
                }
            }
            Schema::Union(branches) => {
                let plan = registry.plan(branches);
                let branch = match (&plan.tag, value) {
                    (Some(tag), Value::Object(members)) => members
                        .get(&tag.property)
                        .and_then(|found| tag.values.iter().find(|(known, _)| found == known))
                        .map(|(_, branch)| *branch),
                    (None, Value::Object(_)) => plan.objects.first().copied(),
                    (_, Value::Array(_)) => {
                        let lists = plan.by_kind.iter().find(|(kind, _)| *kind == Kind::Array);
                        lists.and_then(|(_, candidates)| candidates.first().copied())
                    }
                    _ => None,
                };
                if let Some(branch) = branch {
                    self.walk(registry, &branches[branch], &format!("{path}_{branch}"), value);
                }
            }
            _ => {}
        }
    }

    /// Inserts new names, each behind its predecessor.
    fn note<'n>(&mut self, path: &str, names: impl Iterator<Item = &'n String>) {
        let known = self.seen.entry(path.to_owned()).or_default();
        let mut at = 0;
        for name in names {
            if let Some(found) = known.iter().position(|other| other == name) {
                at = found + 1;
            } else {
                known.insert(at, name.clone());
                at += 1;
            }
        }
    }
}
