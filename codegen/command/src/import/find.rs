//! Finds the events and bodies of an API in a document.

use std::collections::BTreeMap;

use codegen::formats::Published;
use serde_json::Value;

use super::Note;
use super::document::{Document, Located, reference};
use super::pointer::Pointer;
use super::schemas::{Result, fail};

/// A type may occur twice: without and with the properties that only a WebSocket has.
pub(super) fn events<'d>(document: &Document<'d>, published: &Published) -> Result<Vec<Located<'d>>> {
    let beside: Vec<Pointer> =
        published.beside.iter().filter_map(|name| Some(document.variant_schema(name)?.0)).collect();
    let mut events = Vec::new();
    for (place, union) in unions(document, published)? {
        for branch in branches_of(&place, union) {
            if !beside.contains(&document.follow(&branch)?.0) {
                events.push(branch);
            }
        }
    }
    Ok(events)
}

/// Unions of events have a name, or belong to an operation.
pub(super) fn unions<'d>(document: &Document<'d>, published: &Published) -> Result<Vec<Located<'d>>> {
    let named = published.events.iter().filter_map(|name| document.variant_schema(name));
    let named: Vec<_> = named.collect();
    if !named.is_empty() {
        return Ok(named);
    }
    match published.events.iter().find_map(|place| operation(document, place, "text/event-stream")) {
        Some(found) => Ok(vec![document.follow(&found)?]),
        None => Err(fail(
            &Pointer::root(),
            format!("no events: neither {}", published.events.join(" nor ")),
            "one of these schemas, or an operation that streams the union of events",
        )),
    }
}

fn operation<'d>(document: &Document<'d>, place: &str, media: &str) -> Option<Located<'d>> {
    let mut words = place.split_whitespace();
    let (method, path) = (words.next()?, words.next().filter(|path| path.starts_with('/'))?);
    let content = ["content", media, "schema"];
    let keys = match words.next() {
        None => [&[method, "requestBody"], &content[..]].concat(),
        Some(status) if status.parse::<u16>().is_ok() => {
            [&[method, "responses", status], &content[..]].concat()
        }
        Some(extension) => vec![method, extension],
    };
    document.operation(path, &keys)
}

fn branches_of<'d>(place: &Pointer, union: &'d Value) -> Vec<Located<'d>> {
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = union.get(keyword).and_then(Value::as_array) {
            let place = place.at(keyword);
            return branches.iter().enumerate().map(|(index, branch)| (place.at(index), branch)).collect();
        }
    }
    vec![(place.clone(), union)]
}

pub(super) fn roots(document: &Document<'_>, published: &Published) -> BTreeMap<String, String> {
    let found = |place: &String| {
        let Some((at, schema)) = operation(document, place, "application/json") else {
            return document.variant_schema(place)?.0.whole_component();
        };
        reference(&at, schema.get("$ref")?).ok()
    };
    let bodies = published.bodies.iter();
    bodies.filter_map(|(role, places)| Some((role.clone(), places.iter().find_map(found)?))).collect()
}

pub(super) fn wanted_roots(
    document: &Document<'_>,
    wanted: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>> {
    match wanted.iter().find(|(_, name)| document.schema(name).is_none()) {
        None => Ok(wanted.clone()),
        Some((role, name)) => Err(fail(
            &Pointer::named(name),
            format!("no schema \"{name}\", which dialect.toml lists as {role}"),
            "a schema of that name; correct [roots] in dialect.toml",
        )),
    }
}

pub(super) fn check_file_name(place: &Pointer, name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    let expected = "a name of letters, digits, `.`, `_` and `-`, as it becomes a file name";
    Err(fail(place, format!("the name {name:?}"), expected))
}

/// Some file systems do not distinguish names that differ only in case.
pub(super) fn names_that_differ_in_case(files: &BTreeMap<String, Value>) -> Vec<Note> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    files
        .keys()
        .filter_map(|path| {
            let other = seen.insert(path.to_lowercase(), path)?;
            Some(Note {
                place: path.clone(),
                text: format!("differs from {other} only in case; some file systems treat them as one file"),
            })
        })
        .collect()
}
