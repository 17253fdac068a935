//! Rules of the group `schema`.

use std::borrow::Cow;

use catalogue::Level;
use spec::json::{Fault, FaultKind};
use spec::table::UnknownEvents;
use spec::{Api, Dialect, Verdict};

use super::misnomer;
use super::other_dialects::{self, OtherDialects};
use super::sequence;
use crate::Frame;
use crate::engine::Case;
use crate::engine::{FaultPlace, Finding, Payload};

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
    // No later version of an API has such an event.
    let respelled = case.dialect().events.iter().map(|event| event.name).find(|own| is_respelled(own, name));
    let expected = match case.dialect().framing.unknown_events {
        _ if respelled.is_some() => respelled.unwrap_or_default(),
        UnknownEvents::Ignored => return,
        UnknownEvents::Reported => {
            // Clients take these for events of the API.
            let is_own = case.dialect().api.signature.pattern(name).is_some();
            case.limit(if is_own { Level::Should } else { Level::May });
            "an event type of the dialect"
        }
        UnknownEvents::Prefixed if has_prefix(name) => return,
        UnknownEvents::Prefixed => "an event type of the dialect, or one with a vendor's prefix",
    };
    let place = FaultPlace {
        pointer: Some("/type"),
        expected: Some(expected),
        actual: Some(name),
        ..FaultPlace::WHOLE
    };
    let dialect = case.dialect().name;
    let mut is_known_in = |other: &Dialect| other.event(name).is_some();
    case.report_here(&place, &mut is_known_in, &|| format!("{dialect} has no event \"{name}\""));
}

pub(super) fn is_respelled(own: &str, name: &str) -> bool {
    let letters = |name: &str| {
        let bytes = name.bytes().filter(u8::is_ascii_alphanumeric);
        bytes.map(|byte| byte.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    letters(own) == letters(name)
}

pub(super) fn event_typed(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let is_error = case.head.is_refusal();
    let is_untyped = record.payload == Payload::Object && record.event_type.is_none() && !is_error;
    if is_untyped && foreign(case).is_none() {
        case.fault_of_event("property \"type\"", "none", || "the event has no type".to_owned());
    }
}

/// A slug and a colon.
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
    report_faults(case, "the event", told, faults, other_dialects::of_record(record, case.dialect()));
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
            let place =
                FaultPlace { expected: Some("a JSON object"), actual: Some(form), form, ..FaultPlace::WHOLE };
            case.report(&place, || "the body of the response is not a JSON object".to_owned());
        }
        return;
    };
    if let Verdict::Invalid(faults, more) = &record.verdict {
        report_faults(
            case,
            "the body",
            faults.iter(),
            faults,
            other_dialects::of_record(record, case.dialect()),
        );
        case.omit(*more);
    }
}

fn kind_of(body: &str) -> &'static str {
    match body.trim_ascii_start().as_bytes().first() {
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b'n') => "null",
        _ => "something else",
    }
}

/// Faults inside a value of an unknown type are not reported.
fn report_faults<'f>(
    case: &mut Case<'_>,
    whole: &str,
    faults: impl Iterator<Item = &'f Fault>,
    all: &[Fault],
    mut others: OtherDialects<impl Fn(&'static Dialect) -> Option<Verdict>>,
) {
    let api = case.dialect().api;
    let unknown: Vec<&str> =
        all.iter().filter_map(|fault| unknown_type(fault, api)).map(|(holder, _)| holder).collect();
    let follows = |fault: &Fault| {
        let inside = |holder: &&str| {
            fault.pointer.strip_prefix(*holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        unknown.iter().any(inside)
    };
    for fault in faults.filter(|fault| !follows(fault)) {
        let mut is_fine_in = |other| others.is_fine(other, fault);
        let number = case.fault_here(fault, &mut is_fine_in, &|| in_words(whole, fault));
        if let (FaultKind::Missing { property, simplest, .. }, Some(record)) = (fault.kind, case.record()) {
            case.supply(number, || misnomer::supply(api, property, simplest, record.data(), &fault.pointer));
        }
    }
}

fn unknown_type<'f>(fault: &'f Fault, api: &Api) -> Option<(&'f str, &'f str)> {
    let holder = fault.pointer.strip_suffix("/type")?;
    let name = fault.actual.string()?;
    let (outer, last) = holder.rsplit_once('/')?;
    let is_index = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let kind = if is_index { outer.rsplit('/').next()? } else { last };
    api.extensible.contains(&kind).then_some((holder, name))
}

fn is_item(fault: &Fault, response: &str, api: &Api) -> bool {
    let pointer = fault.pointer.strip_prefix(response).unwrap_or(&fault.pointer);
    let rest = pointer.strip_prefix(&format!("/{}/", api.list)).and_then(|rest| rest.strip_suffix("/type"));
    fault.pointer == format!("/{}/type", api.item) || rest.is_some_and(|index| !index.contains('/'))
}

/// The client knows the settings that the response echoes.
fn is_echoed(fault: &Fault, response: &str, api: &Api) -> bool {
    // The pointer begins at the event, or at the response if that is the body.
    let pointer = fault.pointer.strip_prefix(response).unwrap_or(&fault.pointer);
    let member = pointer.strip_prefix('/').and_then(|pointer| pointer.split_once('/'));
    member.is_some_and(|(member, _)| api.request.tools.contains(&member))
}

pub(super) fn type_known(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Verdict::Invalid(faults, _) = &record.verdict else { return };
    let (response, api) = (case.in_response(""), case.dialect().api);
    let mut others = other_dialects::of_record(record, case.dialect());
    let whole = case.bound.level;
    for fault in faults {
        if let Some((_, name)) = unknown_type(fault, api).filter(|(_, name)| !has_prefix(name)) {
            case.bound.level = whole;
            if is_echoed(fault, &response, api) {
                case.limit(match case.dialect().framing.unknown_events {
                    UnknownEvents::Prefixed => Level::Should,
                    UnknownEvents::Ignored | UnknownEvents::Reported => Level::May,
                });
            }
            let is_reported = case.dialect().framing.unknown_events == UnknownEvents::Reported;
            if is_reported && is_item(fault, &response, api) {
                case.limit(Level::Should);
            }
            let mut is_known_in = |other| others.is_fine(other, fault);
            let (expected, actual) = (fault.kind.to_string(), fault.actual.to_string());
            let is_echo = is_echoed(fault, &response, api);
            let place = FaultPlace {
                pointer: Some(&fault.pointer),
                expected: Some(&expected),
                actual: Some(&actual),
                form: if is_echo { Finding::ECHO } else { fault.actual.kind() },
                ..FaultPlace::WHOLE
            };
            case.report_here(&place, &mut is_known_in, &|| {
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
        return newer_values(case, newer, other_dialects::of_record(record, case.dialect()));
    }
    let Some(root) = record.root else { return };
    let newer = |dialect: &Dialect| {
        dialect.root(root).map_or_else(Vec::new, |name| dialect.newer_values_of_type(name, data))
    };
    newer_values(case, newer, other_dialects::of_record(record, case.dialect()));
}

fn newer_values(
    case: &mut Case<'_>,
    newer: impl Fn(&Dialect) -> Vec<Fault>,
    mut others: OtherDialects<impl Fn(&'static Dialect) -> Option<Verdict>>,
) {
    for fault in newer(case.dialect()) {
        let mut is_known_in = |other: &'static Dialect| {
            others.is_fine(other, &fault) && newer(other).iter().all(|newer| newer.pointer != fault.pointer)
        };
        case.fault_here(&fault, &mut is_known_in, &|| {
            format!("{} is {}, which the schema does not list", fault.pointer, fault.actual)
        });
    }
}

/// `None` for events of the dialect's own protocol.
fn foreign(case: &Case<'_>) -> Option<&'static str> {
    case.record()?.foreign(case.dialect())
}

pub(super) fn foreign_protocol(case: &mut Case<'_>) {
    let Some(protocol) = foreign(case) else { return };
    let (protocol, own) = (in_sentence(protocol), in_sentence(case.dialect().api.title));
    let expected = format!("an event of {own}");
    let what = if case.is_of_body() { "body" } else { "event" };
    case.fault_of_event(&expected, &protocol, || format!("the {what} belongs to {protocol}, not to {own}"));
}

fn in_sentence(name: &str) -> Cow<'_, str> {
    let needs_article = name.ends_with(" API") && !name.starts_with("the ");
    if needs_article { Cow::Owned(format!("the {name}")) } else { Cow::Borrowed(name) }
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
