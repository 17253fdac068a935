//! From an `OpenAPI` document to the files of a dialect.
//!
//! [`import`] is pure: it finds the union of events and the wanted bodies, follows what they refer
//! to, and writes every schema in normal form. [`into_folder`] lays the result over a dialect's
//! folder and keeps what is ours there.

mod all_of;
mod bundle;
mod document;
mod find;
mod folder;
mod lifecycle;
mod merge;
mod normal;
mod ours;
mod place;
#[cfg(feature = "cli")]
mod read;
mod sample;
mod text;
mod unions;

#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use document::Document;
use normal::Normaliser;
use place::Place;

#[cfg(feature = "cli")]
pub(crate) use folder::files_of;
pub use folder::{Laying, Summary, into_folder};
#[cfg(feature = "cli")]
pub use read::read;

/// What to take from a document besides its events.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// Bodies to take: role ("request", "response" ...) and the name of its schema. `None` takes
    /// every body that belongs to the Responses API.
    pub roots: Option<BTreeMap<String, String>>,
    /// The variant of the API to take, such as `Beta`: what begins with that name.
    pub variant: Option<String>,
}

/// A dialect as its document publishes it.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Path inside the dialect's folder and contents, in normal form.
    pub files: BTreeMap<String, Value>,
    /// The bodies that were taken: role and type name.
    pub roots: BTreeMap<String, String>,
    /// The document's own title and version.
    pub title: String,
    /// Where reading the document needed a decision that a person should know of.
    pub notes: Vec<Note>,
}

/// A remark on one place of a document, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// JSON pointer into the document, or a file of the dialect.
    pub place: String,
    /// What was found there and how it was read.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A place of a document that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// JSON pointer into the document.
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What could be read there instead, and what to do.
    pub expected: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: found {}; expected {}", self.place, self.found, self.expected)
    }
}

impl std::error::Error for ImportError {}

/// Reads the events and bodies of the Responses API from an `OpenAPI` 3.1 document or a JSON Schema bundle.
///
/// # Errors
///
/// Fails on the first construct that has no normal form, and when the document has no union of
/// events or lacks a wanted body.
pub fn import(document: &Value, request: &ImportRequest) -> Result<Imported, ImportError> {
    let bundle = bundle::as_document(document);
    let document = Document::new(bundle.as_ref().unwrap_or(document), request.variant.as_deref())?;
    let roots = match &request.roots {
        Some(wanted) => find::wanted_roots(&document, wanted)?,
        None => find::roots(&document),
    };
    let mut normaliser = Normaliser::new(&document);
    let mut files = BTreeMap::new();
    let mut pending: BTreeSet<String> = roots.values().cloned().collect();

    for branch in find::events(&document)? {
        let (place, schema) = document.follow(&branch)?;
        let event = match place.whole_component() {
            Some(name) => normaliser.named(&name)?,
            None => normaliser.schema(&place, schema)?,
        };
        let kind = event_type(&place, &event)?;
        find::check_file_name(&place, &kind)?;
        references(&event, &mut pending);
        match files.entry(format!("events/{kind}.json")) {
            Entry::Vacant(free) => drop(free.insert(file(&kind, event))),
            Entry::Occupied(mut known) => add_properties(&place, &kind, known.get_mut(), event)?,
        }
    }

    while let Some(name) = pending.pop_first() {
        let path = format!("types/{name}.json");
        if files.contains_key(&path) {
            continue;
        }
        find::check_file_name(&Place::named(&name), &name)?;
        let schema = normaliser.named(&name)?;
        references(&schema, &mut pending);
        files.insert(path, file(&name, schema));
    }

    let mut notes = normaliser.finish()?;
    notes.extend(find::names_that_differ_in_case(&files));
    Ok(Imported { files, roots, title: document.title(), notes })
}

/// Takes up what a second schema of an event allows besides. It may not change what the first one says.
fn add_properties(place: &Place, kind: &str, event: &mut Value, again: Value) -> Result<(), ImportError> {
    let (first, second) = (event.clone(), again);
    let known = event.get_mut("properties").and_then(Value::as_object_mut);
    let added = second.get("properties").and_then(Value::as_object);
    let (Some(known), Some(added)) = (known, added) else { return Ok(()) };
    for (name, schema) in added {
        match known.get(name) {
            None => drop(known.insert(name.clone(), schema.clone())),
            Some(same) if same == schema => {}
            Some(_) => {
                return Err(ImportError {
                    place: place.to_string(),
                    found: format!("a second event of type \"{kind}\", with another `{name}`"),
                    expected: "one schema for each event type, or one that only adds properties".to_owned(),
                });
            }
        }
    }
    if first.get("required") == second.get("required") {
        return Ok(());
    }
    Err(ImportError {
        place: place.to_string(),
        found: format!("a second event of type \"{kind}\", which requires other properties"),
        expected: "one schema for each event type, or one that only adds properties".to_owned(),
    })
}

/// Files with a document laid over them.
#[cfg(feature = "cli")]
pub(crate) fn laid_over(
    files: BTreeMap<String, Value>,
    roots: &BTreeMap<String, String>,
    document: &Imported,
) -> (BTreeMap<String, Value>, Vec<Note>) {
    merge::merge(files, roots, document, None, None)
}

fn event_type(place: &Place, event: &Value) -> Result<String, ImportError> {
    event.pointer("/properties/type/const").and_then(Value::as_str).map(str::to_owned).ok_or_else(|| {
        ImportError {
            place: place.to_string(),
            found: "an event whose `type` is not one constant string".to_owned(),
            expected: "an object with a property `type` that has a single value".to_owned(),
        }
    })
}

/// Gives a schema the head that makes it a file.
fn file(id: &str, schema: Value) -> Value {
    let mut head = Map::new();
    head.insert("$schema".to_owned(), Value::from("https://json-schema.org/draft/2020-12/schema"));
    head.insert("$id".to_owned(), Value::from(id));
    if let Value::Object(body) = schema {
        head.extend(body);
    }
    text::ordered(head)
}

/// Collects the names of the types that a schema in normal form refers to.
fn references(schema: &Value, into: &mut BTreeSet<String>) {
    ours::visit(schema, "", &mut |_, map| {
        into.extend(map.get("$ref").and_then(normal::referred).map(str::to_owned));
    });
}
