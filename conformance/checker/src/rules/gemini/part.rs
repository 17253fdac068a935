//! Rules of the groups `content-part`, `thought` and `thought-signature`.

use spec::json;
use spec::table::Scope;

use super::{has, parts};
use crate::engine::{Case, FaultPlace, Node, Object, Record, short};

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

pub(in crate::rules) fn one_kind(case: &mut Case<'_>) {
    for part in parts(case) {
        let kinds = || KINDS.into_iter().filter(|kind| part.value.get(kind).is_some());
        let count = kinds().count();
        if count == 1 || count == 0 && part.value.get("thoughtSignature").is_some() {
            continue;
        }
        let kinds: Vec<&str> = kinds().collect();
        let actual =
            if kinds.is_empty() { short(part.value.text()).into_owned() } else { kinds.join(" and ") };
        let form = match &*kinds {
            [] if json::members(part.value.text()).is_some_and(|all| all.is_empty()) => "empty",
            [] => "unknown",
            _ => "several",
        };
        let pointer = part.pointer("");
        let place = FaultPlace {
            pointer: Some(&pointer),
            expected: Some("one of text, functionCall, inlineData or another kind"),
            actual: Some(&actual),
            form,
            ..FaultPlace::WHOLE
        };
        case.report(&place, || match &*kinds {
            [] => "a part is of no kind".to_owned(),
            kinds => format!("a part is of {} kinds: {}", kinds.len(), kinds.join(" and ")),
        });
    }
}

pub(in crate::rules) fn empty_text_placed(case: &mut Case<'_>) {
    if case.stream.events == 0 {
        return;
    }
    for part in parts(case) {
        let is_expected = || part.is_last() || part.value.get("thoughtSignature").is_some();
        if part.value.get("text") == Some("\"\"") && !is_expected() {
            case.fault(&part.pointer("/text"), "text", "\"\"", || {
                "a part has an empty text, and neither a signature nor the reason to finish beside it"
                    .to_owned()
            });
        }
    }
}

pub(in crate::rules) fn file_typed(case: &mut Case<'_>) {
    for part in parts(case) {
        let Some(file) = part.value.value("inlineData").map(Object::new) else { continue };
        let has = |name: &str| file.string(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = ["mimeType", "data"].into_iter().find(|name| !has(name)) {
            case.lacks(&part.pointer("/inlineData"), name, || format!("a file has no {name}"));
        } else if !file.string("data").is_some_and(|data| is_base64(&data)) {
            case.fault(&part.pointer("/inlineData/data"), "base64", "other characters", || {
                "the data of a file are not base64".to_owned()
            });
        }
    }
}

pub(in crate::rules) fn thought_is_true(case: &mut Case<'_>) {
    for part in parts(case).filter(|part| part.value.get("thought") == Some("false")) {
        case.fault(&part.pointer("/thought"), "true, or no such member", "false", || {
            "thought is false, where the service leaves it out".to_owned()
        });
    }
}

pub(in crate::rules) fn thought_has_text(case: &mut Case<'_>) {
    for part in parts(case).filter(|part| part.is_thought() && part.value.get("text").is_none()) {
        case.lacks(&part.pointer(""), "text", || "a thought has no text".to_owned());
    }
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

pub(in crate::rules) fn signature_not_on_thought(case: &mut Case<'_>) {
    let is_signed = |part: &Object<'_>| part.get("thoughtSignature").is_some();
    for part in parts(case).filter(|part| part.is_thought() && is_signed(&part.value)) {
        case.fault(&part.pointer("/thoughtSignature"), "none on a thought", "a signature", || {
            "a thought has a signature, which belongs to what follows it".to_owned()
        });
    }
}

/// Both alphabets of base64 occur.
fn is_base64(text: &str) -> bool {
    let is_digit = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'-' | b'_');
    // Each byte is looked at, so that many are at once.
    text.trim_end_matches('=').bytes().fold(true, |all, it| all & is_digit(it))
}

pub(in crate::rules) fn signature_base64(case: &mut Case<'_>) {
    for part in parts(case) {
        let Some(signature) = part.value.string("thoughtSignature") else { continue };
        if !is_base64(&signature) {
            case.fault(&part.pointer("/thoughtSignature"), "base64", &short(&signature), || {
                "the signature is not base64".to_owned()
            });
        }
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
    if is_signed && !goes_on && !is_served && super::call::before(case, call).next().is_some() {
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
