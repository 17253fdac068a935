//! Queries on a schema that need the other types of its dialect.

use std::collections::BTreeMap;

use super::{Kind, KindSet, Range, Schema, StringRules};

/// The named types of a dialect, for resolving references.
#[derive(Debug, Clone, Copy)]
pub struct Registry<'a> {
    types: &'a BTreeMap<String, Schema>,
}

/// Maximum length of a chain of references; longer ones are circular.
const LONGEST_CHAIN: usize = 64;

impl<'a> Registry<'a> {
    /// Returns a registry over these types.
    pub const fn new(types: &'a BTreeMap<String, Schema>) -> Self {
        Self { types }
    }

    /// Returns the type of that name.
    pub fn get(&self, name: &str) -> Option<&'a Schema> {
        self.types.get(name)
    }

    /// Resolves a chain of references; returns any other schema unchanged.
    pub fn resolve<'s>(&self, schema: &'s Schema) -> &'s Schema
    where
        'a: 's,
    {
        let mut current = schema;
        for _ in 0..LONGEST_CHAIN {
            match current {
                Schema::Ref(name) => match self.types.get(name) {
                    Some(target) => current = target,
                    None => return current,
                },
                _ => break,
            }
        }
        current
    }

    /// Returns the kinds of JSON value that can match.
    pub fn kinds(&self, schema: &Schema) -> KindSet {
        match self.resolve(schema) {
            Schema::Any | Schema::Ref(_) => KindSet::ANY,
            Schema::Null => KindSet::of(Kind::Null),
            Schema::Boolean => KindSet::of(Kind::Boolean),
            Schema::String(_) | Schema::Enum(_) | Schema::OpenEnum(_) => KindSet::of(Kind::String),
            Schema::Integer(_) | Schema::Number(_) => KindSet::of(Kind::Number),
            Schema::Const(value) => KindSet::of(match value {
                serde_json::Value::Bool(_) => Kind::Boolean,
                serde_json::Value::Number(_) => Kind::Number,
                _ => Kind::String,
            }),
            Schema::Array(_) => KindSet::of(Kind::Array),
            Schema::Object(_) => KindSet::of(Kind::Object),
            Schema::Nullable(inner) => self.kinds(inner).with(KindSet::of(Kind::Null)),
            Schema::Union(branches) => {
                branches.iter().fold(KindSet::default(), |set, branch| set.with(self.kinds(branch)))
            }
        }
    }

    /// Returns whether every value of that kind matches.
    pub fn takes_all(&self, schema: &Schema, kind: Kind) -> bool {
        match self.resolve(schema) {
            Schema::Any => true,
            Schema::String(rules) => kind == Kind::String && *rules == StringRules::default(),
            Schema::Number(range) => kind == Kind::Number && *range == Range::default(),
            Schema::OpenEnum(_) => kind == Kind::String,
            Schema::Null => kind == Kind::Null,
            Schema::Boolean => kind == Kind::Boolean,
            Schema::Nullable(inner) => kind == Kind::Null || self.takes_all(inner, kind),
            Schema::Union(branches) => branches.iter().any(|branch| self.takes_all(branch, kind)),
            _ => false,
        }
    }

    /// Returns the required properties that only allow certain strings, with these strings.
    pub fn tags(&self, schema: &Schema) -> Vec<(String, Vec<String>)> {
        match self.resolve(schema) {
            Schema::Object(object) => object
                .properties
                .iter()
                .filter(|property| property.required)
                .filter_map(|property| Some((property.name.clone(), self.strings(&property.schema)?)))
                .collect(),
            Schema::Nullable(inner) => self.tags(inner),
            Schema::Union(branches) => {
                let mut objects =
                    branches.iter().filter(|b| self.kinds(b).has(Kind::Object)).map(|b| self.tags(b));
                let first = objects.next().unwrap_or_default();
                objects.fold(first, |shared, next| {
                    shared
                        .into_iter()
                        .filter_map(|(name, mut values)| {
                            let (_, more) = next.iter().find(|(other, _)| *other == name)?;
                            values.extend(more.iter().cloned());
                            Some((name, values))
                        })
                        .collect()
                })
            }
            _ => Vec::new(),
        }
    }

    fn strings(self, schema: &Schema) -> Option<Vec<String>> {
        match self.resolve(schema) {
            Schema::Const(value) => value.as_str().map(|text| vec![text.to_owned()]),
            Schema::Enum(values) => Some(values.clone()),
            _ => None,
        }
    }

    /// Returns the names of the types that a schema directly refers to.
    pub fn references(schema: &Schema, found: &mut Vec<String>) {
        match schema {
            Schema::Ref(name) => found.push(name.clone()),
            Schema::Array(array) => Self::references(&array.items, found),
            Schema::Object(object) => {
                for property in &object.properties {
                    Self::references(&property.schema, found);
                }
                if let super::Additional::Typed(values) = &object.additional {
                    Self::references(values, found);
                }
            }
            Schema::Nullable(inner) => Self::references(inner, found),
            Schema::Union(branches) => branches.iter().for_each(|branch| Self::references(branch, found)),
            _ => {}
        }
    }
}
