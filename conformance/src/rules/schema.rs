//! Rules of the group `schema`.

use spec::Verdict;
use spec::catalogue::Level;
use spec::json::Fault;
use spec::table::UnknownEvents;

use super::Case;
use crate::engine::{Payload, Place};

pub(super) fn event_known(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    if record.payload != Payload::Object || record.verdict != Verdict::Unknown {
        return;
    }
    let name = record.event_type.as_deref();
    let expected = match case.dialect().framing.unknown_events {
        UnknownEvents::Ignored => return,
        UnknownEvents::Reported => {
            case.bound.level = Level::May;
            "an event type that the dialect lists"
        }
        UnknownEvents::Prefixed if name.is_some_and(has_prefix) => return,
        UnknownEvents::Prefixed => "an event type that the dialect lists, or one with its vendor's prefix",
    };
    let pointer = name.is_some().then_some("/type");
    let place = Place { pointer, at: None, expected: Some(expected), actual: name.or(Some("no type")) };
    let dialect = case.dialect().name;
    case.report(&place, || match name {
        Some(name) => format!("{dialect} has no event \"{name}\""),
        None => "the event has no type".to_owned(),
    });
}

/// Whether a type begins with the slug of whoever added it, and a colon.
fn has_prefix(name: &str) -> bool {
    let in_slug = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.split_once(':')
        .is_some_and(|(slug, rest)| !slug.is_empty() && slug.bytes().all(in_slug) && !rest.is_empty())
}

pub(super) fn event_valid(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Verdict::Invalid(faults, more) = &record.verdict else { return };
    // That it is no object at all is another rule's business.
    if record.payload != Payload::Object {
        return;
    }
    for fault in faults {
        case.fault(&fault.pointer, &fault.expected, &fault.actual, || in_words(fault));
    }
    case.omit(*more);
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
