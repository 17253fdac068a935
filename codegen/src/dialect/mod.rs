//! Dialects, loaded and resolved.

mod built;
mod errata;
mod folder;
mod load;
mod patch;
mod position;
mod renamed;
mod reshaped;
mod tiny;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::formats::{DialectFile, Effect, Erratum, Lifecycle, Role, Scope};
use crate::schema::{Registry, Schema};

pub use built::{base, enabled};
pub(crate) use folder::entries;
pub use folder::{Folder, LoadError, MOST_FOLDERS, PATCH, read_toml};
pub use load::{Errata, list, load, open, resolve};
pub use position::Position;
pub use renamed::Renaming;
pub use tiny::Tiny;

/// A dialect with inherited files and errata applied.
#[derive(Debug, Clone)]
pub struct Dialect {
    /// Its name, the same as its folder's.
    pub name: String,
    /// Its `dialect.toml`, with inherited entries.
    pub file: DialectFile,
    /// Its `dialect.toml` as written.
    pub own: DialectFile,
    /// The dialects that it extends, nearest first.
    pub lineage: Vec<String>,
    /// Its events by type.
    pub events: BTreeMap<String, Event>,
    /// The schemas of its named types.
    pub types: BTreeMap<String, Schema>,
    /// The files of its named types, as JSON, errata applied.
    pub type_files: BTreeMap<String, Value>,
    /// Its own errata, each with the places at which it has no effect.
    pub errata: Vec<(Erratum, Vec<String>)>,
    /// The places of its own patches that have no effect.
    pub idle_patches: Vec<IdlePatch>,
    /// Invalid files, its own and inherited ones.
    pub faults: Vec<LoadError>,
}

/// A place of a patch without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdlePatch {
    /// The patch, relative to the dialect's folder.
    pub file: String,
    /// JSON pointer into it.
    pub pointer: String,
    /// Why it has no effect.
    pub why: &'static str,
}

/// One event type.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its `type`.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its lifecycle.
    pub lifecycle: Lifecycle,
    /// The schema of its payload.
    pub schema: Schema,
    /// Examples of payloads.
    pub examples: Vec<Value>,
    /// The file, as JSON, errata applied.
    pub file: Value,
}

impl Dialect {
    /// Returns its named types, for resolving references.
    pub fn registry(&self) -> Registry<'_> {
        Registry::new(&self.types)
    }

    /// Returns the event that opens the root scope, if there is exactly one.
    pub fn opening(&self, root: &str) -> Option<&str> {
        let mut openings = self.openings(root);
        openings.next().filter(|_| openings.next().is_none())
    }

    /// Returns the events that open a scope.
    pub fn openings(&self, scope: &str) -> impl Iterator<Item = &str> {
        let opens = move |event: &&Event| {
            event.lifecycle.effects().iter().any(|effect| effect.role == Role::Open && effect.scope == scope)
        };
        self.events.values().filter(opens).map(|event| event.name.as_str())
    }

    /// Returns the events that end the root scope, in the order of its phases.
    pub fn terminal(&self, root: &Scope) -> Vec<&str> {
        let place = |effect: &Effect| root.ends.iter().position(|end| effect.phase.as_ref() == Some(end));
        let ends = |event: &Event| {
            let mut effects = event.lifecycle.effects().iter();
            effects.find(|effect| effect.role == Role::Terminal).map(place)
        };
        let mut found: Vec<_> =
            self.events.values().filter_map(|event| Some((ends(event)?, event.name.as_str()))).collect();
        found.sort();
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the description of a named type.
    pub fn type_description(&self, name: &str) -> Option<&str> {
        self.type_files.get(name)?.get("description")?.as_str()
    }

    /// Returns the names of these types and of all types that they refer to.
    pub fn reached(&self, mut ahead: Vec<String>) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        while let Some(name) = ahead.pop() {
            if let Some((name, schema)) = self.types.get_key_value(&name)
                && reached.insert(name.as_str())
            {
                Registry::references(schema, &mut ahead);
            }
        }
        reached
    }

    /// Returns the JSON Schema of the event or else the type of that name, for any validator. Types that it refers to are
    /// expected under `$defs`.
    pub fn definition(&self, name: &str) -> Option<Value> {
        let event = self.events.get(name).map(|event| &event.file);
        event.or_else(|| self.type_files.get(name)).map(rewritten)
    }

    /// Returns a self-contained JSON Schema of the event or else the type of that name, for any validator.
    pub fn bundle(&self, name: &str) -> Option<Value> {
        let event = self.events.get(name).map(|event| &event.schema);
        let mut used = Vec::new();
        Registry::references(event.or_else(|| self.types.get(name))?, &mut used);
        let used = self.reached(used).into_iter();
        let definitions =
            used.filter_map(|name| Some((name.to_owned(), rewritten(self.type_files.get(name)?)))).collect();
        let mut root = self.definition(name)?;
        root.as_object_mut()?.insert("$defs".to_owned(), Value::Object(definitions));
        Some(root)
    }
}

fn rewritten(file: &Value) -> Value {
    let mut file = file.clone();
    rewrite(&mut file);
    file
}

/// Rewrites references to `$defs`, removes the values of open enumerations, and removes keywords that would
/// make a file a schema resource of its own.
fn rewrite(json: &mut Value) {
    match json {
        Value::Object(map) => {
            if map.get("$id").is_some_and(Value::is_string) {
                map.shift_remove("$id");
                map.shift_remove("$schema");
                map.shift_remove("examples");
            }
            if let Some(Value::String(target)) = map.get_mut("$ref")
                && let Some(name) = target.strip_prefix("../types/").and_then(|t| t.strip_suffix(".json"))
            {
                *target = format!("#/$defs/{name}");
            }
            // Other validators do not know `x-open`: a newer server may add values.
            if map.contains_key("x-open") {
                map.shift_remove("enum");
            }
            map.values_mut().for_each(rewrite);
        }
        Value::Array(list) => list.iter_mut().for_each(rewrite),
        _ => {}
    }
}
