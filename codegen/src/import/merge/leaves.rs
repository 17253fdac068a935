//! The schemas that a union comes down to, and which of them are the same thing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Merge, Spot, referred_in, type_file};

/// A schema that is no union and no reference.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// The type that it is, when it has a name.
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

    /// Returns the strings that it allows, when these are few.
    pub(super) fn values(&self) -> Option<Vec<Value>> {
        match (self.schema.get("const"), self.schema.get("enum")) {
            (Some(value), _) => Some(vec![value.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            _ => None,
        }
    }

    /// Returns the values of `type` that an object may have, if it says so.
    fn tags(&self) -> Option<Vec<Value>> {
        let tag = self.schema.get("properties")?.get("type")?;
        // Where it may be absent an SDK lets it be null, too.
        let branches =
            tag.get("anyOf").and_then(Value::as_array).map_or(std::slice::from_ref(tag), Vec::as_slice);
        let values =
            branches.iter().filter_map(|schema| Self { name: None, schema: schema.clone() }.values());
        let values: Vec<Value> = values.flatten().collect();
        (!values.is_empty()).then_some(values)
    }

    fn properties(&self) -> BTreeSet<&str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str).collect()
    }

    /// Returns how much two objects have in common, in percent.
    fn likeness(&self, other: &Self) -> usize {
        let (own, others) = (self.properties(), other.properties());
        let all = own.union(&others).count();
        (own.intersection(&others).count() * 100).checked_div(all).unwrap_or(100)
    }
}

/// Objects without a `type` are the same from this likeness on.
const ALIKE: usize = 50;

/// Returns the object that the new one stands for: of the same `type`, or, without one, much like it.
pub(super) fn best<'o>(new: &Leaf, olds: &'o [(Spot, Leaf)]) -> Option<&'o (Spot, Leaf)> {
    let objects = || olds.iter().filter(|(_, old)| old.kind() == Kind::Object);
    let tags = new.tags();
    let tagged = objects().filter(|(_, old)| match (&tags, old.tags()) {
        (Some(new), Some(old)) => new.iter().any(|tag| old.contains(tag)),
        (None, None) => true,
        _ => false,
    });
    // Of several that are equally like it the first one counts.
    let found = tagged.rev().max_by_key(|(_, old)| score(new, old));
    match found {
        Some((_, old)) if tags.is_none() && new.likeness(old) < ALIKE && objects().count() > 1 => None,
        other => other,
    }
}

/// Returns how surely two objects are the same: shared properties count, and more so shared requirements.
pub(super) fn score(new: &Leaf, old: &Leaf) -> usize {
    let names =
        |leaf: &Leaf| leaf.schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let (left, right) = (names(new), names(old));
    new.likeness(old) * 100 + left.iter().filter(|name| right.contains(name)).count()
}

impl Merge<'_> {
    /// Returns what a schema of the document comes down to.
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

    /// Returns what a schema of the dialect comes down to, each with its place.
    pub(super) fn leaves_of_dialect(&self, spot: &Spot) -> Vec<(Spot, Leaf)> {
        let mut found = Vec::new();
        let mut pending = vec![spot.clone()];
        let mut seen = BTreeSet::new();
        while let Some(spot) = pending.pop() {
            let schema = self.at(&spot);
            if let Some(target) = referred_in(&schema) {
                if seen.insert(target.to_owned()) {
                    pending.push(Spot::of_type(target));
                }
            } else if let Some(Value::Array(branches)) = schema.get("anyOf") {
                pending.extend((0..branches.len()).rev().map(|index| spot.at(format!("anyOf/{index}"))));
            } else {
                let (schema, nullable) = without_null(&schema);
                let leaf = Leaf { name: spot.type_name().map(str::to_owned), schema };
                found.push((spot.clone(), leaf));
                if nullable {
                    found.push((spot, null()));
                }
            }
        }
        found
    }

    /// Returns the union that holds most of what a place comes down to: the place itself, or a named one in
    /// it.
    pub(super) fn holder(&self, spot: &Spot) -> Spot {
        let schema = self.at(spot);
        if let Some(target) = referred_in(&schema) {
            return self.holder(&Spot::of_type(target));
        }
        let Some(Value::Array(branches)) = schema.get("anyOf") else { return spot.clone() };
        let inner = branches.iter().enumerate().filter_map(|(index, branch)| {
            let target = Spot::of_type(referred_in(branch)?);
            self.at(&target).get("anyOf")?;
            Some((self.leaves_of_dialect(&spot.at(format!("anyOf/{index}"))).len(), target))
        });
        match inner.max_by_key(|(count, _)| *count) {
            Some((count, target)) if count > branches.len() => self.holder(&target),
            _ => spot.clone(),
        }
    }
}

fn null() -> Leaf {
    Leaf { name: None, schema: json!({ "type": "null" }) }
}

/// Returns a schema without the null that it allows besides, and whether it does.
fn without_null(schema: &Value) -> (Value, bool) {
    match schema.get("type") {
        Some(Value::Array(names)) => {
            let mut plain = schema.clone();
            plain["type"] = names.first().cloned().unwrap_or_default();
            (plain, true)
        }
        _ => (schema.clone(), false),
    }
}
