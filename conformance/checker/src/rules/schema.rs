//! Rules of the group `schema`.

use catalogue::Level;
use spec::json::{Fault, FaultKind};
use spec::table::UnknownEvents;
use spec::{Dialect, Verdict};

use super::misnomer;
use super::other_dialects::{self, OtherDialects};
use super::sequence;
use crate::Frame;
use crate::engine::Case;
use crate::engine::{Finding, Object, Payload, Place};

pub(super) fn event_known(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    // A response with an error status has no events.
    let is_error = case.head.is_refusal();
    if record.payload != Payload::Object
        || record.verdict != Verdict::Unknown
        || foreign(case).is_some()
        || is_error
    {
        return;
    }
    // `schema/event-typed` reports missing types.
    let Some(name) = record.event_type.as_deref() else { return };
    let expected = match case.dialect().framing.unknown_events {
        UnknownEvents::Ignored => return,
        UnknownEvents::Reported => {
            // Clients take these for events of the API.
            case.limit(if name.starts_with("response.") { Level::Should } else { Level::May });
            "an event type of the dialect"
        }
        UnknownEvents::Prefixed if has_prefix(name) => return,
        UnknownEvents::Prefixed => "an event type of the dialect, or one with a vendor's prefix",
    };
    let place =
        Place { pointer: Some("/type"), expected: Some(expected), actual: Some(name), ..Place::WHOLE };
    let dialect = case.dialect().name;
    let is_known_in = |other: &Dialect| other.event(name).is_some();
    case.report_here(&place, is_known_in, || format!("{dialect} has no event \"{name}\""));
}

pub(super) fn event_typed(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let is_error = case.head.is_refusal();
    let is_event = record.payload == Payload::Object && !is_error && foreign(case).is_none();
    if is_event && record.event_type.is_none() {
        let place = Place { expected: Some("property \"type\""), actual: Some("none"), ..Place::WHOLE };
        case.report(&place, || "the event has no type".to_owned());
    }
}

/// Returns whether a type begins with a vendor's slug and a colon.
fn has_prefix(name: &str) -> bool {
    let in_slug = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.split_once(':')
        .is_some_and(|(slug, rest)| !slug.is_empty() && slug.bytes().all(in_slug) && !rest.is_empty())
}

pub(super) fn event_valid(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Verdict::Invalid(faults, more) = &record.verdict else { return };
    // `wire/json-object` reports data that is not an object.
    if record.payload != Payload::Object || foreign(case).is_some() || case.stream.is_answered_apart(record) {
        return;
    }
    let told = faults.iter().filter(|fault| !sequence::is_about_it(fault));
    report_faults(case, "the event", told, faults, other_dialects::of_record(record));
    case.omit(*more);
}

pub(super) fn body_valid(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some(body) = frame.data.as_deref() else { return };
    if case.head.is_refusal() {
        return;
    }
    let Some(record) = case.record().filter(|record| record.payload == Payload::Object) else {
        // Other bodies without a status may be anything.
        if case.head.status.is_some() {
            let form = kind_of(body);
            let place = Place { expected: Some("a JSON object"), actual: Some(form), form, ..Place::WHOLE };
            case.report(&place, || "the body of the response is not a JSON object".to_owned());
        }
        return;
    };
    if let Verdict::Invalid(faults, more) = &record.verdict {
        report_faults(case, "the body", faults.iter(), faults, other_dialects::of_record(record));
        case.omit(*more);
    }
}

/// Returns the JSON type of a body that is not an object.
fn kind_of(body: &str) -> &'static str {
    match body.trim_ascii_start().as_bytes().first() {
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b'n') => "null",
        _ => "something else",
    }
}

/// Reports faults, except those inside a value of an unknown type.
fn report_faults<'f>(
    case: &mut Case<'_>,
    whole: &str,
    faults: impl Iterator<Item = &'f Fault>,
    all: &[Fault],
    mut others: OtherDialects<impl Fn(&'static Dialect) -> Option<Verdict>>,
) {
    let unknown: Vec<&str> = all.iter().filter_map(unknown_type).map(|(holder, _)| holder).collect();
    let follows = |fault: &Fault| {
        let inside = |holder: &&str| {
            fault.pointer.strip_prefix(*holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        unknown.iter().any(inside)
    };
    for fault in faults.filter(|fault| !follows(fault)) {
        let is_fine_in = |other| others.is_fine(other, fault);
        let number = case.fault_here(fault, is_fine_in, || in_words(whole, fault));
        if let (FaultKind::Missing { property, simplest, .. }, Some(record)) = (fault.kind, case.record()) {
            case.supply(number, || misnomer::supply(property, simplest, record.data(), &fault.pointer));
        }
    }
}

/// Returns the value of an unknown type, and the type.
fn unknown_type(fault: &Fault) -> Option<(&str, &str)> {
    let holder = fault.pointer.strip_suffix("/type")?;
    let name = fault.actual.string()?;
    let (outer, last) = holder.rsplit_once('/')?;
    let is_index = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let kind = if is_index { outer.rsplit('/').next()? } else { last };
    let can_be_extended = matches!(
        kind,
        "item"
            | "part"
            | "annotation"
            | "output"
            | "content"
            | "summary"
            | "annotations"
            | "tools"
            | "tool_choice"
    );
    can_be_extended.then_some((holder, name))
}

/// Returns whether a fault is the type of an item, and not of a part of it.
fn is_item(fault: &Fault, response: &str) -> bool {
    let pointer = fault.pointer.strip_prefix(response).unwrap_or(&fault.pointer);
    let rest = pointer.strip_prefix("/output/").and_then(|rest| rest.strip_suffix("/type"));
    fault.pointer == "/item/type" || rest.is_some_and(|index| !index.contains('/'))
}

/// Returns whether a fault is in settings echoed from the request, which the client knows.
fn is_echoed(fault: &Fault, response: &str) -> bool {
    // The pointer begins at the event, or at the response if that is the body.
    let pointer = fault.pointer.strip_prefix(response).unwrap_or(&fault.pointer);
    ["/tools/", "/tool_choice/"].iter().any(|start| pointer.starts_with(start))
}

pub(super) fn type_known(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Verdict::Invalid(faults, _) = &record.verdict else { return };
    let response = case.in_response("");
    let mut others = other_dialects::of_record(record);
    let whole = case.bound.level;
    for fault in faults {
        if let Some((_, name)) = unknown_type(fault).filter(|(_, name)| !has_prefix(name)) {
            case.bound.level = whole;
            if is_echoed(fault, &response) {
                case.limit(match case.dialect().framing.unknown_events {
                    UnknownEvents::Prefixed => Level::Should,
                    UnknownEvents::Ignored | UnknownEvents::Reported => Level::May,
                });
            }
            let is_reported = case.dialect().framing.unknown_events == UnknownEvents::Reported;
            if is_reported && is_item(fault, &response) {
                case.limit(Level::Should);
            }
            let is_known_in = |other| others.is_fine(other, fault);
            let (expected, actual) = (fault.kind.to_string(), fault.actual.to_string());
            let is_echo = is_echoed(fault, &response);
            let place = Place {
                pointer: Some(&fault.pointer),
                expected: Some(&expected),
                actual: Some(&actual),
                form: if is_echo { Finding::ECHO } else { fault.actual.kind() },
                ..Place::WHOLE
            };
            case.report_here(&place, is_known_in, || {
                if is_echo {
                    return format!(
                        "the request has a tool of type {name:?}, which the dialect lacks, and was accepted"
                    );
                }
                format!("{name:?} is neither a type of the dialect nor has a vendor's prefix")
            });
        }
    }
}

pub(super) fn value_known(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let data = record.data();
    if let Some(name) = record.event_type.as_deref() {
        let newer = |dialect: &Dialect| dialect.newer_values(name, data);
        return newer_values(case, newer, other_dialects::of_record(record));
    }
    let Some(root) = record.root else { return };
    let newer = |dialect: &Dialect| {
        dialect.root(root).map_or_else(Vec::new, |name| dialect.newer_values_of_type(name, data))
    };
    newer_values(case, newer, other_dialects::of_record(record));
}

/// Reports values that a dialect does not know yet.
fn newer_values(
    case: &mut Case<'_>,
    newer: impl Fn(&Dialect) -> Vec<Fault>,
    mut others: OtherDialects<impl Fn(&'static Dialect) -> Option<Verdict>>,
) {
    for fault in newer(case.dialect()) {
        let is_known_in = |other: &'static Dialect| {
            others.is_fine(other, &fault) && newer(other).iter().all(|newer| newer.pointer != fault.pointer)
        };
        case.fault_here(&fault, is_known_in, || {
            format!("{} is {}, which the schema does not list", fault.pointer, fault.actual)
        });
    }
}

/// Event types of Anthropic's Messages API.
pub const MESSAGES_EVENTS: [&str; 6] = [
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
];

/// Returns the protocol of an event, if it is another one.
fn foreign(case: &Case<'_>) -> Option<&'static str> {
    let record = case.record().filter(|record| record.payload == Payload::Object)?;
    if record.verdict == Verdict::Valid {
        return None;
    }
    match record.event_type.as_deref() {
        Some(name) if MESSAGES_EVENTS.contains(&name) => Some("Anthropic's Messages"),
        Some(name) => typed_protocol(name),
        None => {
            let object = Object::new(record.data());
            // The type of an event is known, that of a body is not.
            let is_message = object.plain("type") == Some("message") && object.get("object").is_none();
            let is_messages = is_message && object.get("stop_reason").is_some();
            let untyped = || untyped_protocol(record.data()).filter(|_| object.get("type").is_none());
            let named = || record.frame.event.as_deref().and_then(typed_protocol);
            is_messages.then_some("Anthropic's Messages").or_else(untyped).or_else(named)
        }
    }
}

/// What the types of the events of other APIs begin with.
const STARTS: [(&str, &str); 6] = [
    ("session.", "the Realtime API"),
    ("conversation.item.", "the Realtime API"),
    ("input_audio_buffer.", "the Realtime API"),
    ("response.output_audio.", "the Realtime API"),
    ("response.output_audio_transcript.", "the Realtime API"),
    ("thread.", "the Assistants API"),
];

/// Returns the API of an event by its type, if it is another one.
pub fn typed_protocol(name: &str) -> Option<&'static str> {
    STARTS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, api)| *api)
}

/// Returns the protocol of an event without a type, if it is one whose events have none.
pub fn untyped_protocol(data: &str) -> Option<&'static str> {
    let event = Object::new(data);
    let is_list = |name| event.get(name).is_some_and(|value| value.starts_with('['));
    match event.plain("object") {
        Some("chat.completion.chunk" | "chat.completion") => Some("Chat Completions"),
        Some("text_completion") => Some("Completions"),
        // Azure begins with a chunk about the prompt, whose `object` is empty.
        None | Some("") if is_list("choices") => Some("Chat Completions"),
        None if is_list("candidates") || event.get("usageMetadata").is_some() => Some("Gemini"),
        None if event.get("jsonrpc").is_some() => Some("MCP"),
        None if event.get("done").is_some() && event.get("created_at").is_some() => Some("Ollama"),
        _ => None,
    }
}

pub(super) fn foreign_protocol(case: &mut Case<'_>) {
    let Some(protocol) = foreign(case) else { return };
    let place =
        Place { expected: Some("an event of the Responses API"), actual: Some(protocol), ..Place::WHOLE };
    let what = if case.is_of_body() { "body" } else { "event" };
    case.report(&place, || format!("the {what} belongs to {protocol}, not to the Responses API"));
}

fn in_words(whole: &str, fault: &Fault) -> String {
    let place = if fault.pointer.is_empty() { whole } else { &fault.pointer };
    match fault.kind {
        FaultKind::Missing { property, .. } => format!("{place} lacks property \"{property}\""),
        kind => format!("{place} is {}, not {kind}", fault.actual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_slugs() {
        for name in ["acme:trace", "a-b_1.c:x:y"] {
            assert!(has_prefix(name), "{name}");
        }
        for name in ["response.created", ":x", "a:", "a b:c", ""] {
            assert!(!has_prefix(name), "{name}");
        }
    }
}
