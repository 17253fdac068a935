//! Rules of the group `schema`.

use spec::catalogue::{Level, Rule};
use spec::json::Fault;
use spec::table::UnknownEvents;
use spec::{Dialect, Verdict};

use crate::engine::{Findings, Payload, Place, Record, level};

pub(super) fn event_known(
    rule: &'static Rule,
    record: &Record<'_>,
    dialect: &Dialect,
    findings: &mut Findings,
) {
    if record.payload != Payload::Object || record.verdict != Verdict::Unknown {
        return;
    }
    let (level, expected) = match dialect.framing.unknown_events {
        UnknownEvents::Ignored => return,
        UnknownEvents::Reported => (Level::May, "an event type that the dialect lists"),
        UnknownEvents::Prefixed => {
            (level(rule, dialect), "an event type that the dialect lists, or one with its vendor's prefix")
        }
    };
    let name = record.event_type.as_deref();
    if dialect.framing.unknown_events == UnknownEvents::Prefixed && name.is_some_and(has_prefix) {
        return;
    }
    let pointer = name.is_some().then_some("/type");
    let place = Place { pointer, at: None, expected: Some(expected), actual: name.or(Some("no type")) };
    findings.add(rule, level, record, &place, || match name {
        Some(name) => format!("{} has no event \"{name}\"", dialect.name),
        None => "the event has no type".to_owned(),
    });
}

/// Whether a type begins with the slug of whoever added it, and a colon.
fn has_prefix(name: &str) -> bool {
    let in_slug = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.split_once(':')
        .is_some_and(|(slug, rest)| !slug.is_empty() && slug.bytes().all(in_slug) && !rest.is_empty())
}

pub(super) fn event_valid(
    rule: &'static Rule,
    record: &Record<'_>,
    dialect: &Dialect,
    findings: &mut Findings,
) {
    let Verdict::Invalid(faults, more) = &record.verdict else { return };
    // That it is no object at all is another rule's business.
    if record.payload != Payload::Object {
        return;
    }
    for fault in faults {
        let place = Place {
            pointer: Some(&fault.pointer),
            at: None,
            expected: Some(&fault.expected),
            actual: Some(&fault.actual),
        };
        findings.add(rule, level(rule, dialect), record, &place, || in_words(fault));
    }
    findings.add_omitted(*more);
}

fn in_words(fault: &Fault) -> String {
    let place = if fault.pointer.is_empty() { "the event" } else { &fault.pointer };
    match fault.expected.strip_prefix("property ") {
        Some(name) if fault.actual.starts_with("none") => {
            let (name, _) = name.split_once(':').unwrap_or((name, ""));
            format!("{place} lacks property {name}")
        }
        _ => format!("{place} is {}, not {}", fault.actual, fault.expected),
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
