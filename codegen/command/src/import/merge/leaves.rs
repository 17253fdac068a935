//! The leaves of unions, and matching leaves of two unions.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{FilePointer, Merge, referred_in, type_file};
use crate::import::schemas::{values, without_null};

/// A schema that is neither a union nor a reference.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// The name of its type, if it has one.
    pub(super) name: Option<String>,
    pub(super) schema: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Leaf {
    pub(super) fn kind(&self) -> Kind {
        match (self.schema.get("const"), self.schema.get("type").and_then(Value::as_str)) {
            (Some(Value::String(_)), _) | (None, Some("string")) => Kind::String,
            (Some(Value::Bool(_)), _) | (None, Some("boolean")) => Kind::Boolean,
            (Some(_), _) | (None, Some("number" | "integer")) => Kind::Number,
            (None, Some("array")) => Kind::Array,
            (None, Some("object")) => Kind::Object,
            (None, Some("null")) => Kind::Null,
            (None, _) => Kind::Any,
        }
    }

    pub(super) fn values(&self) -> Option<Vec<Value>> {
        values(&self.schema)
    }

    fn tags(&self) -> Option<Vec<Value>> {
        let tag = self.schema.get("properties")?.get("type")?;
        // An SDK also allows null for an optional `type`.
        let branches =
            tag.get("anyOf").and_then(Value::as_array).map_or(std::slice::from_ref(tag), Vec::as_slice);
        let tags: Vec<Value> = branches.iter().filter_map(values).flatten().collect();
        (!tags.is_empty()).then_some(tags)
    }

    fn properties(&self) -> BTreeSet<&str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str).collect()
    }

    fn likeness(&self, other: &Self) -> usize {
        let (own, others) = (self.properties(), other.properties());
        let all = own.union(&others).count();
        (own.intersection(&others).count() * 100).checked_div(all).unwrap_or(100)
    }
}

/// Minimum similarity of matching objects without a `type`.
const ALIKE: usize = 50;

/// Objects match by `type`, or, without a `type`, by similarity.
pub(super) fn best<'o>(new: &Leaf, olds: &'o [(FilePointer, Leaf)]) -> Option<&'o (FilePointer, Leaf)> {
    let objects = || olds.iter().filter(|(_, old)| old.kind() == Kind::Object);
    let tags = new.tags();
    let tagged = objects().filter(|(_, old)| match (&tags, old.tags()) {
        (Some(new), Some(old)) => new.iter().any(|tag| old.contains(tag)),
        (None, None) => true,
        _ => false,
    });
    // Of several equally similar ones, the first counts.
    let found = tagged.rev().max_by_key(|(_, old)| score(new, old));
    match found {
        Some((_, old)) if tags.is_none() && new.likeness(old) < ALIKE && objects().count() > 1 => None,
        other => other,
    }
}

pub(super) fn score(new: &Leaf, old: &Leaf) -> usize {
    let names =
        |leaf: &Leaf| leaf.schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let (left, right) = (names(new), names(old));
    new.likeness(old) * 100 + left.iter().filter(|name| right.contains(name)).count()
}

impl Merge<'_> {
    pub(super) fn leaves_of_document(&self, schema: &Value) -> Vec<Leaf> {
        let mut found = Vec::new();
        self.collect(None, schema, &mut found, &mut BTreeSet::new());
        found
    }

    fn collect(
        &self,
        name: Option<&str>,
        schema: &Value,
        found: &mut Vec<Leaf>,
        seen: &mut BTreeSet<String>,
    ) {
        if let Some(target) = referred_in(schema) {
            if seen.insert(target.to_owned())
                && let Some(schema) = self.document.get(&type_file(target))
            {
                self.collect(Some(target), schema, found, seen);
            }
        } else if let Some(Value::Array(branches)) = schema.get("anyOf") {
            for branch in branches {
                self.collect(None, branch, found, seen);
            }
        } else {
            let (schema, nullable) = without_null(schema);
            found.push(Leaf { name: name.map(str::to_owned), schema });
            if nullable {
                found.push(null());
            }
        }
    }

    pub(super) fn leaves_of_dialect(&self, place: &FilePointer) -> Vec<(FilePointer, Leaf)> {
        let mut found = Vec::new();
        let mut pending = vec![place.clone()];
        let mut seen = BTreeSet::new();
        while let Some(place) = pending.pop() {
            let schema = self.at(&place);
            if let Some(target) = referred_in(&schema) {
                if seen.insert(target.to_owned()) {
                    pending.push(FilePointer::of_type(target));
                }
            } else if let Some(Value::Array(branches)) = schema.get("anyOf") {
                pending.extend((0..branches.len()).rev().map(|index| place.at(format!("anyOf/{index}"))));
            } else {
                let (schema, nullable) = without_null(&schema);
                let leaf = Leaf { name: place.type_name().map(str::to_owned), schema };
                found.push((place.clone(), leaf));
                if nullable {
                    found.push((place, null()));
                }
            }
        }
        found
    }

    /// The place itself, or a named union in it.
    pub(super) fn holder(&self, place: &FilePointer) -> FilePointer {
        let schema = self.at(place);
        if let Some(target) = referred_in(&schema) {
            return self.holder(&FilePointer::of_type(target));
        }
        let Some(Value::Array(branches)) = schema.get("anyOf") else { return place.clone() };
        let inner = branches.iter().enumerate().filter_map(|(index, branch)| {
            let target = FilePointer::of_type(referred_in(branch)?);
            self.at(&target).get("anyOf")?;
            Some((self.leaves_of_dialect(&place.at(format!("anyOf/{index}"))).len(), target))
        });
        match inner.max_by_key(|(count, _)| *count) {
            Some((count, target)) if count > branches.len() => self.holder(&target),
            _ => place.clone(),
        }
    }
}

fn null() -> Leaf {
    Leaf { name: None, schema: json!({ "type": "null" }) }
}
