//! Rules of the groups `content-part`, `thought`, `function-call`, `code-execution` and `server-call`.

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use super::{candidates, has, parts};
use crate::engine::{Case, Node, Object, Record, short};

/// A part has one of these members.
const KINDS: [&str; 9] = [
    "text",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "inlineData",
    "fileData",
    "toolCall",
    "toolResponse",
];

/// The function gets each part of the chunk, with its JSON pointer and its candidate.
fn each(case: &mut Case<'_>, mut look: impl FnMut(&mut Case<'_>, &str, &Object<'_>, &Object<'_>)) {
    for (nth, candidate) in candidates(case).iter().enumerate() {
        for (at, part) in parts(candidate).iter().enumerate() {
            look(case, &format!("/candidates/{nth}/content/parts/{at}"), part, candidate);
        }
    }
}

pub(in crate::rules) fn one_kind(case: &mut Case<'_>) {
    each(case, |case, pointer, part, _| {
        let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| part.get(kind).is_some()).collect();
        let is_seal = kinds.is_empty() && part.get("thoughtSignature").is_some();
        if kinds.len() == 1 || is_seal {
            return;
        }
        let actual = if kinds.is_empty() { short(part.text()).into_owned() } else { kinds.join(" and ") };
        case.fault(
            pointer,
            "one of text, functionCall, inlineData or another kind",
            &actual,
            || match &*kinds {
                [] => "a part is of no kind".to_owned(),
                kinds => format!("a part is of {} kinds: {}", kinds.len(), kinds.join(" and ")),
            },
        );
    });
}

pub(in crate::rules) fn empty_text_placed(case: &mut Case<'_>) {
    if case.stream.events == 0 {
        return;
    }
    each(case, |case, pointer, part, candidate| {
        let is_expected = part.get("thoughtSignature").is_some() || candidate.value("finishReason").is_some();
        if part.get("text") == Some("\"\"") && !is_expected {
            case.fault(&format!("{pointer}/text"), "text", "\"\"", || {
                "a part has an empty text, and neither a signature nor the reason to finish beside it"
                    .to_owned()
            });
        }
    });
}

pub(in crate::rules) fn thought_is_true(case: &mut Case<'_>) {
    each(case, |case, pointer, part, _| {
        if part.get("thought") == Some("false") {
            case.fault(&format!("{pointer}/thought"), "true, or no such member", "false", || {
                "thought is false, where the service leaves it out".to_owned()
            });
        }
    });
}

pub(in crate::rules) fn thought_has_text(case: &mut Case<'_>) {
    each(case, |case, pointer, part, _| {
        if part.get("thought") == Some("true") && part.get("text").is_none() {
            case.lacks(pointer, "text", || "a thought has no text".to_owned());
        }
    });
}

pub(in crate::rules) fn signature_not_on_thought(case: &mut Case<'_>) {
    each(case, |case, pointer, part, _| {
        if part.get("thought") == Some("true") && part.get("thoughtSignature").is_some() {
            case.fault(&format!("{pointer}/thoughtSignature"), "none on a thought", "a signature", || {
                "a thought has a signature, which belongs to what follows it".to_owned()
            });
        }
    });
}

/// Both alphabets of base64 occur.
pub(in crate::rules) fn signature_base64(case: &mut Case<'_>) {
    each(case, |case, pointer, part, _| {
        let Some(signature) = part.string("thoughtSignature") else { return };
        let digits = signature.trim_end_matches('=');
        let is_digit = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'-' | b'_');
        if !digits.bytes().all(is_digit) {
            case.fault(&format!("{pointer}/thoughtSignature"), "base64", &short(&signature), || {
                "the signature is not base64".to_owned()
            });
        }
    });
}

pub(in crate::rules) fn thought_first(case: &mut Case<'_>, thought: &Node) {
    let stream = case.stream;
    let Some(candidate) = stream.parent(thought) else { return };
    let has_text = stream.children(candidate, Scope::Text).any(|text| !text.joined.trim().is_empty());
    if has_text || has(stream, candidate, Scope::FunctionCall) {
        let name = case.name(candidate);
        case.expected("a thought ahead of the answer", || format!("a thought follows the answer of {name}"));
    }
}

/// Later pieces of a call have no name.
pub(in crate::rules) fn named(case: &mut Case<'_>) {
    each(case, |case, pointer, part, _| {
        let Some(call) = part.value("functionCall").map(Object::new) else { return };
        let pointer = format!("{pointer}/functionCall");
        match call.get("name") {
            Some("\"\"") => case.fault(&format!("{pointer}/name"), "a non-empty string", "\"\"", || {
                "the function call has an empty name".to_owned()
            }),
            None if call.get("args").is_some() => {
                case.lacks(&pointer, "name", || "the function call has no name".to_owned());
            }
            _ => {}
        }
    });
}

pub(in crate::rules) fn not_prefixed(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    let Some(name) = call.string("name") else { return };
    if name.starts_with("default_api:") || name.starts_with("default_api.") {
        case.fault_of_event("the name of a function", &format!("{name:?}"), || {
            format!("the function is called {name:?}, with the prefix that the model sees")
        });
    }
}

pub(in crate::rules) fn has_args(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    let goes_on = call.get("willContinue").is_some() || call.get("partialArgs").is_some();
    if call.get("args").is_none() && !goes_on {
        // Bodies of the service do it where a function has no parameters.
        if case.stream.events == 0 {
            case.limit(Level::May);
        }
        case.expected("args: an object, if only {}", || "the function call has no args".to_owned());
    }
}

fn before<'s>(case: &'s Case<'_>, call: &Node) -> Vec<&'s Node> {
    let stream = case.stream;
    let candidate = stream.parent(call);
    let calls = candidate.into_iter().flat_map(|candidate| stream.children(candidate, Scope::FunctionCall));
    calls.filter(|other| other.key.entry() != call.key.entry()).collect()
}

fn id(call: &Node) -> Option<&str> {
    call.opening.get()?.plain("id").filter(|id| !id.is_empty())
}

pub(in crate::rules) fn all_have_ids(case: &mut Case<'_>, call: &Node, _: &Object<'_>) {
    let has_id = id(call).is_some();
    if before(case, call).first().is_some_and(|other| id(other).is_some() != has_id) {
        let (expected, actual) = if has_id { ("no id", "an id") } else { ("an id", "none") };
        case.fault_of_event(expected, actual, || {
            "of the calls of one response, only some have an id".to_owned()
        });
    }
}

pub(in crate::rules) fn id_unique(case: &mut Case<'_>, call: &Node, _: &Object<'_>) {
    let Some(own) = id(call) else { return };
    if before(case, call).iter().any(|other| id(other) == Some(own)) {
        case.fault_of_event("an id that no earlier call has", &format!("{own:?}"), || {
            format!("two calls have the id {own:?}")
        });
    }
}

/// Signatures can be on calls of several steps only where the service runs tools itself.
pub(in crate::rules) fn first_is_signed(case: &mut Case<'_>, call: &Node, value: &Object<'_>) {
    let is_signed = case.record().and_then(Record::entry);
    let is_signed = is_signed.is_some_and(|(part, _)| json::at(part, "/thoughtSignature").is_some());
    let goes_on = value.get("willContinue").is_some();
    let stream = case.stream;
    let is_served = stream.parent(call).is_some_and(|candidate| {
        [Scope::ServerCall, Scope::FunctionResponse].iter().any(|scope| has(stream, candidate, *scope))
    });
    if is_signed && !goes_on && !is_served && !before(case, call).is_empty() {
        case.fault_of_event("no signature", "a signature", || {
            "a later call of the step has a signature, which only the first one has".to_owned()
        });
    }
}

/// From Gemini 3 on, calls are signed.
pub(in crate::rules) fn calls_are_signed(case: &mut Case<'_>, candidate: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let model =
        case.record().and_then(|record| json::string(record.member("modelVersion")?)).unwrap_or_default();
    let digit = model.strip_prefix("gemini-").and_then(|rest| rest.bytes().next());
    let is_new = digit.is_some_and(|digit| (b'3'..=b'9').contains(&digit));
    let has_call = has(stream, candidate, Scope::FunctionCall);
    if is_new && has_call && !has(stream, candidate, Scope::Seal) && !stream.has_gap {
        let name = case.name(candidate);
        case.expected("thoughtSignature on the first call", || format!("{name} has calls, but no signature"));
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
