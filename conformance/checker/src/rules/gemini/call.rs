//! Rules of the groups `function-call`, `code-execution` and `server-call`.

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use super::{is_body, list, parts};
use crate::engine::{Case, Node, Object};

/// Members of a piece of an argument, which has one of them.
const VALUES: [&str; 4] = ["stringValue", "numberValue", "boolValue", "nullValue"];

/// Later pieces of a call have no name.
pub(in crate::rules) fn named(case: &mut Case<'_>) {
    for part in parts(case) {
        let Some(call) = part.value.value("functionCall").map(Object::new) else { continue };
        match call.get("name") {
            Some("\"\"") => {
                case.fault(&part.pointer("/functionCall/name"), "a non-empty string", "\"\"", || {
                    "the function call has an empty name".to_owned()
                });
            }
            None if call.get("args").is_some() => {
                case.lacks(&part.pointer("/functionCall"), "name", || {
                    "the function call has no name".to_owned()
                });
            }
            _ => {}
        }
    }
}

/// The model sees functions under these names.
pub(super) fn has_prefix(name: &str) -> bool {
    name.starts_with("default_api:") || name.starts_with("default_api.")
}

pub(in crate::rules) fn not_prefixed(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    let Some(name) = call.string("name") else { return };
    if has_prefix(&name) {
        case.fault_of_event("the name of a function", &format!("{name:?}"), || {
            format!("the function is called {name:?}, with the prefix that the model sees")
        });
    }
}

fn goes_on(call: &Object<'_>) -> bool {
    call.get("willContinue").is_some() || call.get("partialArgs").is_some()
}

pub(in crate::rules) fn has_args(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    if call.get("args").is_none() && !goes_on(call) {
        // Bodies of the service do it where a function has no parameters.
        if is_body(case) {
            case.limit(Level::May);
        }
        case.expected("args: an object, if only {}", || "the function call has no args".to_owned());
    }
}

pub(in crate::rules) fn pieces_placed(case: &mut Case<'_>) {
    for part in parts(case) {
        let Some(call) = part.value.value("functionCall") else { continue };
        for (nth, piece) in list(call, "/partialArgs").enumerate() {
            let piece = Object::new(piece);
            let values = VALUES.iter().filter(|name| piece.get(name).is_some()).count();
            let has_place = piece.string("jsonPath").is_some_and(|path| path.starts_with('$'));
            if !has_place || values != 1 {
                let pointer = part.pointer(&format!("/functionCall/partialArgs/{nth}"));
                let actual = if has_place { format!("{values} values") } else { "no jsonPath".to_owned() };
                case.fault(&pointer, "jsonPath and one value", &actual, || {
                    format!("a piece of the arguments has {actual}")
                });
            }
        }
    }
}

pub(in crate::rules) fn before<'s>(case: &Case<'s>, call: &Node) -> impl Iterator<Item = &'s Node> + use<'s> {
    let stream = case.stream;
    let own = call.key.entry();
    let candidate = stream.parent(call);
    let calls = candidate.into_iter().flat_map(|candidate| stream.children(candidate, Scope::FunctionCall));
    calls.filter(move |other| other.key.entry() != own)
}

fn id(call: &Node) -> Option<&str> {
    call.opening.get()?.plain("id").filter(|id| !id.is_empty())
}

pub(in crate::rules) fn all_have_ids(case: &mut Case<'_>, call: &Node, _: &Object<'_>) {
    let has_id = id(call).is_some();
    if before(case, call).next().is_some_and(|other| id(other).is_some() != has_id) {
        let (expected, actual) = if has_id { ("no id", "an id") } else { ("an id", "none") };
        case.fault_of_event(expected, actual, || {
            "of the calls of one response, only some have an id".to_owned()
        });
    }
}

pub(in crate::rules) fn id_unique(case: &mut Case<'_>, call: &Node, _: &Object<'_>) {
    let Some(own) = id(call) else { return };
    if before(case, call).any(|other| id(other) == Some(own)) {
        case.fault_of_event("an id that no earlier call has", &format!("{own:?}"), || {
            format!("two calls have the id {own:?}")
        });
    }
}

/// Without ids, the pieces of a call are calls of their own.
pub(in crate::rules) fn whole(case: &mut Case<'_>, call: &Node, value: &Object<'_>) {
    // Parallel calls of 2.5 have no ids, and come in one chunk.
    let Some(record) = case.record().filter(|_| !is_body(case)) else { return };
    let is_here = |node: &&Node| node.opened.get().is_some_and(|place| place.is_of(record));
    let Some(before) = before(case, call).last().filter(|before| !is_here(before)) else { return };
    let Some(earlier) = before.opening.get() else { return };
    let is_empty = |call: &Object<'_>| call.value("args").and_then(json::members).map(|args| args.is_empty());
    let are_alike = earlier.get("name") == value.get("name")
        && [before, call].iter().all(|call| id(call).is_none())
        && [earlier, value].iter().all(|call| !goes_on(call));
    if are_alike && is_empty(earlier) == Some(true) && is_empty(value) == Some(false) {
        let name = value.get("name").unwrap_or_default();
        case.expected("the whole call in one part", || {
            format!("the call of {name} repeats the one before it, which has no arguments")
        });
    }
}

pub(in crate::rules) fn follows_code(case: &mut Case<'_>, result: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let Some(candidate) = stream.parent(result) else { return };
    let count = |scope| stream.children(candidate, scope).count();
    if count(Scope::CodeResult) > count(Scope::ExecutableCode) {
        case.expected("executableCode before it", || {
            "a codeExecutionResult has no executableCode".to_owned()
        });
    }
}

/// The service writes code to search files, too, and does not tell its result.
pub(in crate::rules) fn has_result(case: &mut Case<'_>) {
    let stream = case.stream;
    let searches = |code: &Node| {
        code.opening.get().and_then(|code| code.string("code")).is_some_and(|it| it.contains("file_search."))
    };
    for candidate in stream.items().filter(|candidate| candidate.phase.is_some() && !stream.has_gap) {
        let codes = stream.children(candidate, Scope::ExecutableCode).filter(|code| !searches(code)).count();
        let results = stream.children(candidate, Scope::CodeResult).count();
        if codes > results {
            case.expected("a codeExecutionResult for each executableCode", || {
                format!("{codes} parts have code to execute, but {results} a result")
            });
        }
    }
}

pub(in crate::rules) fn answered(case: &mut Case<'_>) {
    let stream = case.stream;
    for candidate in stream.items() {
        let ids = |scope: Scope| {
            let nodes = stream.children(candidate, scope);
            nodes.filter_map(|node| node.opening.get()?.plain("id")).collect::<Vec<_>>()
        };
        let results = ids(Scope::ServerResult);
        if candidate.phase.is_none() {
            continue;
        }
        let lonely = ids(Scope::ServerCall).into_iter().find(|id| !results.contains(id));
        if let Some(id) = lonely.filter(|_| !stream.error.is_set() && !stream.has_gap) {
            case.expected("a toolResponse with its id", || format!("the toolCall {id} has no toolResponse"));
        }
    }
}
