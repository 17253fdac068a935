//! Imports an `OpenAPI` document into the files of a dialect.
//!
//! [`import`] is pure: it finds the union of events and the requested bodies, follows references, and writes every
//! schema in normal form. [`into_folder`] merges the result into a dialect's folder and keeps our own additions.

mod bundle;
mod document;
mod find;
mod folder;
mod lifecycle;
mod merge;
mod normal;
mod ours;
mod pointer;
mod read;
mod sample;
mod schemas;
mod text;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use codegen::SpecFiles;
use codegen::formats::{ApiFile, Published};
use codegen::schema::visit;
use serde_json::{Map, Value};

use document::Document;
use normal::Normaliser;
use pointer::Pointer;
use schemas::{Result, fail};

pub(crate) use folder::files_of;
pub use folder::{Laying, Summary, into_folder};
pub use read::read;

/// The bodies and the variant to import.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// Where documents have the events and bodies of the API.
    pub published: Published,
    /// Bodies to import: role ("request", "response" ...) and the name of its schema. `None` imports every body of the
    /// API.
    pub roots: Option<BTreeMap<String, String>>,
    /// The variant of the API to import, such as `Beta`, the prefix of its names.
    pub variant: Option<String>,
}

/// An imported dialect, as published.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Files in normal form, by their path in the dialect's folder.
    pub files: BTreeMap<String, Value>,
    /// The imported bodies: role and type name.
    pub roots: BTreeMap<String, String>,
    /// Title and version of the document.
    pub title: String,
    /// Decisions of the importer that a person should review.
    pub notes: Vec<Note>,
}

/// A remark on a place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// JSON pointer into the document, or a file of the dialect.
    pub place: String,
    /// The finding, and how the importer interpreted it.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A place of a document that the importer does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// JSON pointer into the document.
    pub place: String,
    /// The actual content.
    pub found: String,
    /// The supported content, and the fix.
    pub expected: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: found {}; expected {}", self.place, self.found, self.expected)
    }
}

impl std::error::Error for ImportError {}

/// Reads the events and bodies of an API from an `OpenAPI` 3.1 document or a JSON Schema bundle.
///
/// # Errors
///
/// Fails on the first construct without a normal form, or if the document lacks a union of events or a requested
/// body.
pub fn import(document: &Value, request: &ImportRequest) -> Result<Imported> {
    let bundle = bundle::as_document(document);
    let document = Document::new(bundle.as_ref().unwrap_or(document), request.variant.as_deref())?;
    let roots = match &request.roots {
        Some(wanted) => find::wanted_roots(&document, wanted)?,
        None => find::roots(&document, &request.published),
    };
    let mut normaliser = Normaliser::new(&document);
    let mut files = BTreeMap::new();
    let mut pending: BTreeSet<String> = roots.values().cloned().collect();

    for branch in find::events(&document, &request.published)? {
        let (place, schema) = document.follow(&branch)?;
        let event = match place.whole_component() {
            Some(name) => normaliser.named(&name)?,
            None => normaliser.schema(&place, schema)?,
        };
        let kind = event_type(&place, &event, &request.published)?;
        find::check_file_name(&place, &kind)?;
        references(&event, &mut pending);
        match files.entry(format!("events/{kind}.json")) {
            Entry::Vacant(free) => drop(free.insert(file(&kind, event))),
            Entry::Occupied(mut known) => add_properties(&place, &kind, known.get_mut(), &event)?,
        }
    }

    while let Some(name) = pending.pop_first() {
        let path = format!("types/{name}.json");
        if files.contains_key(&path) {
            continue;
        }
        find::check_file_name(&Pointer::named(&name), &name)?;
        let schema = normaliser.named(&name)?;
        references(&schema, &mut pending);
        files.insert(path, file(&name, schema));
    }

    let mut notes = normaliser.finish()?;
    notes.extend(find::names_that_differ_in_case(&files));
    Ok(Imported { files, roots, title: document.title(), notes })
}

/// The wanted one, or else the first whose events the document has.
pub(crate) fn api_in<'f>(
    files: &'f SpecFiles,
    document: &Value,
    wanted: Option<&str>,
) -> anyhow::Result<(&'f str, &'f ApiFile)> {
    let mut apis = files.apis.iter().map(|(name, api)| (name.as_str(), api));
    let names = || files.apis.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    match wanted {
        Some(wanted) => apis
            .find(|(name, _)| *name == wanted)
            .ok_or_else(|| anyhow::anyhow!("there is no API \"{wanted}\"; there are: {}", names())),
        None => apis.find(|(_, api)| has_events(document, &api.published)).ok_or_else(|| {
            anyhow::anyhow!("the document has events of no known API; there are: {}", names())
        }),
    }
}

pub(crate) fn has_events(document: &Value, published: &Published) -> bool {
    let bundle = bundle::as_document(document);
    Document::new(bundle.as_ref().unwrap_or(document), None)
        .is_ok_and(|document| find::unions(&document, published).is_ok())
}

/// The second schema must not contradict the first one.
fn add_properties(place: &Pointer, kind: &str, event: &mut Value, again: &Value) -> Result<()> {
    let required = event.get("required").cloned();
    let (Some(Value::Object(known)), Some(Value::Object(added))) =
        (event.get_mut("properties"), again.get("properties"))
    else {
        return Ok(());
    };
    let differs = |what: String| {
        let expected = "one schema for each event type, or one that only adds properties";
        Err(fail(place, format!("a second event of type \"{kind}\" with {what}"), expected))
    };
    for (name, schema) in added {
        match known.get(name) {
            None => drop(known.insert(name.clone(), schema.clone())),
            Some(same) if same == schema => {}
            Some(_) => return differs(format!("a different `{name}`")),
        }
    }
    if required.as_ref() == again.get("required") {
        Ok(())
    } else {
        differs("other required properties".to_owned())
    }
}

pub(crate) fn laid_over(
    files: BTreeMap<String, Value>,
    roots: &BTreeMap<String, String>,
    document: &Imported,
    root: &str,
) -> (BTreeMap<String, Value>, Vec<Note>) {
    merge::merge(files, roots, document, &merge::Options { root, ..merge::Options::default() })
}

/// Properties whose constant names an event; the first counts.
const DISCRIMINATORS: &[&str] = &["type", "object", "event_type"];

/// An event without a type has the name of its schema, if the API lists that as an event.
fn event_type(place: &Pointer, event: &Value, published: &Published) -> Result<String> {
    let constant = |name: &&str| event.pointer(&format!("/properties/{name}/const"))?.as_str();
    let listed = || place.whole_component().filter(|name| published.events.contains(name));
    DISCRIMINATORS.iter().find_map(constant).map(str::to_owned).or_else(listed).ok_or_else(|| {
        let expected = "an object with a property `type` or `object` that has a single value";
        fail(place, "an event whose `type` is not a constant string", expected)
    })
}

fn file(id: &str, schema: Value) -> Value {
    let mut head = Map::new();
    head.insert("$schema".to_owned(), Value::from("https://json-schema.org/draft/2020-12/schema"));
    head.insert("$id".to_owned(), Value::from(id));
    if let Value::Object(body) = schema {
        head.extend(body);
    }
    text::ordered(head)
}

fn references(schema: &Value, into: &mut BTreeSet<String>) {
    visit(schema, "", &mut |_, map| {
        into.extend(map.get("$ref").and_then(schemas::referred).map(str::to_owned));
    });
}
