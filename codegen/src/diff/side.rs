//! One side of a comparison: a dialect or an `OpenAPI` document.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::schema::{self, ParseError, Schema};

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side {
    pub(super) name: String,
    pub(super) events: BTreeMap<String, Parsed>,
    pub(super) types: BTreeMap<String, Parsed>,
    pub(super) roots: BTreeMap<String, String>,
    pub(super) errata_left_out: usize,
}

/// A schema of the model with its JSON, which has annotations that the model leaves out.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    pub(super) schema: Schema,
    pub(super) json: Value,
}

impl Side {
    /// Creates a side from a resolved dialect with errata.
    pub fn of_dialect(dialect: &Dialect) -> Self {
        let events = dialect.events.values().map(|event| {
            (event.name.clone(), Parsed { schema: event.schema.clone(), json: event.file.clone() })
        });
        let types = dialect.types.iter().map(|(name, schema)| {
            let json = dialect.type_files.get(name).cloned().unwrap_or_default();
            (name.clone(), Parsed { schema: schema.clone(), json })
        });
        Self {
            name: dialect.name.clone(),
            events: events.collect(),
            types: types.collect(),
            roots: dialect.file.roots.clone(),
            errata_left_out: 0,
        }
    }

    /// Creates a side from a dialect as published, for comparison with a document.
    pub fn of_published(dialect: &Dialect) -> Self {
        Self { errata_left_out: dialect.errata.len(), ..Self::of_dialect(dialect) }
    }

    /// Creates a side from the files of a dialect, by their paths in its folder, and the types of its bodies.
    ///
    /// # Errors
    ///
    /// Fails if a file is not in normal form.
    pub fn of_files(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (String, Value)>,
        roots: BTreeMap<String, String>,
    ) -> Result<Self, ParseError> {
        let mut side = Self {
            name: name.into(),
            events: BTreeMap::new(),
            types: BTreeMap::new(),
            roots,
            errata_left_out: 0,
        };
        for (path, json) in files {
            let schema = schema::parse(&json)
                .map_err(|error| ParseError { pointer: format!("{path}#{}", error.pointer), ..error })?;
            let stem = path.trim_end_matches(".json");
            if let Some(name) = stem.strip_prefix("events/") {
                side.events.insert(name.to_owned(), Parsed { schema, json });
            } else if let Some(name) = stem.strip_prefix("types/") {
                side.types.insert(name.to_owned(), Parsed { schema, json });
            }
        }
        Ok(side)
    }

    pub(super) fn event(&self, name: &str) -> Option<Node<'_>> {
        self.events.get(name).map(|parsed| Node::new(&parsed.schema, &parsed.json))
    }

    pub(super) fn named(&self, name: &str) -> Option<Node<'_>> {
        let (name, parsed) = self.types.get_key_value(name)?;
        Some(Node { name: Some(name), ..Node::new(&parsed.schema, &parsed.json) })
    }

    pub(super) fn nullable(&self, schema: &Schema) -> bool {
        let mut names = Vec::new();
        self.accepts_null(schema, &mut names)
    }

    fn accepts_null<'s>(&'s self, schema: &'s Schema, names: &mut Vec<&'s str>) -> bool {
        match schema {
            Schema::Null | Schema::Nullable(_) | Schema::Any => true,
            Schema::Union(branches) => branches.iter().any(|branch| self.accepts_null(branch, names)),
            Schema::Ref(name) if !names.contains(&name.as_str()) => {
                names.push(name);
                self.types.get(name).is_some_and(|target| self.accepts_null(&target.schema, names))
            }
            _ => false,
        }
    }

    pub(super) fn strings(&self, schema: &Schema) -> Option<Vec<String>> {
        match schema {
            Schema::Const(Value::String(text)) => Some(vec![text.clone()]),
            Schema::Enum(values) | Schema::OpenEnum(values) => Some(values.clone()),
            Schema::Ref(name) => match &self.types.get(name)?.schema {
                Schema::Ref(_) => None,
                target => self.strings(target),
            },
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'d> {
    pub(super) schema: &'d Schema,
    pub(super) json: &'d Value,
    /// The name of the type, if it is the whole type.
    pub(super) name: Option<&'d str>,
}

impl<'d> Node<'d> {
    pub(super) const fn new(schema: &'d Schema, json: &'d Value) -> Self {
        Self { schema, json, name: None }
    }

    pub(super) fn reference(self) -> Option<(&'d str, bool)> {
        match self.schema {
            Schema::Ref(name) => Some((name, true)),
            Schema::Nullable(inner) => match &**inner {
                Schema::Ref(name) => Some((name, false)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn inner(self, schema: &'d Schema, keys: &[&str]) -> Self {
        let json = keys.iter().fold(self.json, |json, key| json.get(key).unwrap_or(&Value::Null));
        Self::new(schema, json)
    }

    /// Itself if it is not a union.
    pub(super) fn branches(self) -> Vec<Self> {
        let (mut schemas, mut jsons) = (Vec::new(), Vec::new());
        flatten(self.schema, &mut schemas);
        flatten_json(self.json, &mut jsons);
        let alone = schemas.len() == 1;
        let jsons = jsons.into_iter().chain(std::iter::repeat(&Value::Null));
        let nodes = schemas.into_iter().zip(jsons);
        nodes.map(|(schema, json)| Self { schema, json, name: self.name.filter(|_| alone) }).collect()
    }
}

fn flatten<'d>(schema: &'d Schema, into: &mut Vec<&'d Schema>) {
    match schema {
        Schema::Nullable(inner) => flatten(inner, into),
        Schema::Union(branches) => branches.iter().for_each(|branch| flatten(branch, into)),
        other => into.push(other),
    }
}

fn flatten_json<'d>(json: &'d Value, into: &mut Vec<&'d Value>) {
    match json.get("anyOf").and_then(Value::as_array) {
        Some(branches) => {
            let filled = branches.iter().filter(|branch| branch.get("type") != Some(&Value::from("null")));
            filled.for_each(|branch| flatten_json(branch, into));
        }
        None => into.push(json),
    }
}
