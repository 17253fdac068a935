//! Finds the events and bodies of the Responses API in a document.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::{Document, reference};
use super::pointer::Pointer;
use super::{ImportError, Note};

/// Names of the unions of events: of a stream, and of a WebSocket.
const EVENT_UNIONS: &[&str] = &["ResponseStreamEvent", "ResponsesServerEvent"];

/// Bodies without a path: role and name.
const NAMED_BODIES: &[(&str, &str)] =
    &[("websocket_request", "ResponsesClientEvent"), ("websocket_error", SOCKET_ERROR)];

/// The error envelope, which is listed among the events of a WebSocket, but is not part of the stream.
const SOCKET_ERROR: &str = "ResponseWsError";

/// Places of bodies: their role in a dialect, and the keys that lead to their schema.
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

/// Returns the branches of the unions of events, each with its place. A type may occur twice: without and with the
/// properties that only a WebSocket has.
pub(super) fn events<'d>(document: &Document<'d>) -> Result<Vec<(Pointer, &'d Value)>, ImportError> {
    let named = || EVENT_UNIONS.iter().filter_map(|name| document.variant_schema(name));
    let mut unions: Vec<(Pointer, &Value)> = named().collect();
    if unions.is_empty() {
        let path = ["post", "responses", "200", "content", "text/event-stream", "schema"];
        let Some(found) = document.operation("/responses", &path) else {
            return Err(ImportError {
                place: Pointer::root().at("paths").at("/responses").to_string(),
                found: "neither a text/event-stream response of POST nor a schema named ResponseStreamEvent"
                    .to_owned(),
                expected: "the union of the stream's events in one of the two".to_owned(),
            });
        };
        unions.push(document.follow(&found)?);
    }
    let mut branches = Vec::new();
    for (place, union) in unions {
        branches.extend(branches_of(&place, union)?);
    }
    let beside = document.variant_schema(SOCKET_ERROR).map(|(place, _)| place);
    let mut events = Vec::new();
    for branch in branches {
        if Some(document.follow(&branch)?.0) != beside {
            events.push(branch);
        }
    }
    Ok(events)
}

fn branches_of<'d>(place: &Pointer, union: &'d Value) -> Result<Vec<(Pointer, &'d Value)>, ImportError> {
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

/// Returns the bodies of the Responses API with a named schema.
pub(super) fn roots(document: &Document<'_>) -> BTreeMap<String, String> {
    let placed = BODIES.iter().filter_map(|(role, keys)| {
        let (place, schema) = document.operation(keys[1], &keys[2..])?;
        Some(((*role).to_owned(), reference(&place, schema.get("$ref")?).ok()?))
    });
    let named = NAMED_BODIES.iter().filter_map(|(role, name)| {
        let (place, _) = document.variant_schema(name)?;
        Some(((*role).to_owned(), place.whole_component()?))
    });
    named.chain(placed).collect()
}

/// Returns the bodies of the dialect's roots; fails if the document lacks one.
pub(super) fn wanted_roots(
    document: &Document<'_>,
    wanted: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ImportError> {
    match wanted.iter().find(|(_, name)| document.schema(name).is_none()) {
        None => Ok(wanted.clone()),
        Some((role, name)) => Err(ImportError {
            place: Pointer::named(name).to_string(),
            found: format!("no schema \"{name}\", which dialect.toml lists as {role}"),
            expected: "a schema of that name; correct [roots] in dialect.toml".to_owned(),
        }),
    }
}

/// Rejects names that some file systems do not support.
pub(super) fn check_file_name(place: &Pointer, name: &str) -> Result<(), ImportError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    Err(ImportError {
        place: place.to_string(),
        found: format!("the name {name:?}"),
        expected: "a name of letters, digits, `.`, `_` and `-`, as it becomes a file name".to_owned(),
    })
}

/// Returns notes on names that differ only in case, which some file systems do not distinguish.
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
