//! Where a document of the Responses API keeps its events and bodies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::{Document, reference};
use super::place::Place;
use super::{ImportError, Note};

/// The named union of events, where a document has one.
const EVENT_UNION: &str = "ResponseStreamEvent";

/// Where bodies stand: the role they have in a dialect, and the keys that lead to their schema.
const BODIES: &[(&str, &[&str])] = &[
    ("request", &["paths", "/responses", "post", "requestBody", "content", "application/json", "schema"]),
    (
        "response",
        &["paths", "/responses", "post", "responses", "200", "content", "application/json", "schema"],
    ),
    (
        "compact_request",
        &["paths", "/responses/compact", "post", "requestBody", "content", "application/json", "schema"],
    ),
    (
        "compact_response",
        &["paths", "/responses/compact", "post", "responses", "200", "content", "application/json", "schema"],
    ),
    (
        "item_list",
        &[
            "paths",
            "/responses/{response_id}/input_items",
            "get",
            "responses",
            "200",
            "content",
            "application/json",
            "schema",
        ],
    ),
    (
        "deleted",
        &[
            "paths",
            "/responses/{response_id}",
            "delete",
            "responses",
            "200",
            "content",
            "application/json",
            "schema",
        ],
    ),
    ("websocket_request", &["paths", "/responses", "x-openresponses-websocket", "clientMessage"]),
    ("websocket_error", &["paths", "/responses", "x-openresponses-websocket", "errorMessage"]),
];

/// The branches of the union of events, each with its place.
pub(super) fn events<'d>(document: &Document<'d>) -> Result<Vec<(Place, &'d Value)>, ImportError> {
    let path = ["paths", "/responses", "post", "responses", "200", "content", "text/event-stream", "schema"];
    let (place, union) = match document.schema(EVENT_UNION) {
        Some(schema) => (Place::named(EVENT_UNION), schema),
        None => {
            match document.get(&path) {
                Some(found) => document.follow(&found)?,
                None => {
                    return Err(ImportError {
                    place: Place::root().at("paths").at("/responses").to_string(),
                    found: "neither a text/event-stream response of POST nor a schema named ResponseStreamEvent".to_owned(),
                    expected: "the union of the stream's events in one of the two".to_owned(),
                });
                }
            }
        }
    };
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = union.get(keyword).and_then(Value::as_array) {
            let place = place.at(keyword);
            return Ok(branches
                .iter()
                .enumerate()
                .map(|(index, branch)| (place.at(index), branch))
                .collect());
        }
    }
    Err(ImportError {
        place: place.to_string(),
        found: "a schema without `anyOf` or `oneOf`".to_owned(),
        expected: "the union of the stream's events".to_owned(),
    })
}

/// Every body of the Responses API that is a named schema.
pub(super) fn roots(document: &Document<'_>) -> BTreeMap<String, String> {
    BODIES
        .iter()
        .filter_map(|(role, keys)| {
            let (place, schema) = document.get(keys)?;
            Some(((*role).to_owned(), reference(&place, schema.get("$ref")?).ok()?))
        })
        .collect()
}

/// The bodies that the dialect names, if the document has them all.
pub(super) fn wanted_roots(
    document: &Document<'_>,
    wanted: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ImportError> {
    match wanted.iter().find(|(_, name)| document.schema(name).is_none()) {
        None => Ok(wanted.clone()),
        Some((role, name)) => Err(ImportError {
            place: Place::named(name).to_string(),
            found: format!("nothing, although dialect.toml names \"{name}\" as its {role}"),
            expected: "a schema of that name; correct [roots] in dialect.toml".to_owned(),
        }),
    }
}

/// Refuses names that some file systems cannot hold.
pub(super) fn check_file_name(place: &Place, name: &str) -> Result<(), ImportError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    Err(ImportError {
        place: place.to_string(),
        found: format!("the name {name:?}"),
        expected: "a name of letters, digits, `.`, `_` and `-`, as it becomes the name of a file".to_owned(),
    })
}

/// Names that become one file where the file system does not tell upper case from lower.
pub(super) fn names_that_differ_in_case(files: &BTreeMap<String, Value>) -> Vec<Note> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    files
        .keys()
        .filter_map(|path| {
            let other = seen.insert(path.to_lowercase(), path)?;
            Some(Note {
                place: path.clone(),
                text: format!("differs from {other} in case only; some file systems hold one of them"),
            })
        })
        .collect()
}
