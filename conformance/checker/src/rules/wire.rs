//! Rules of the group `wire`.

use std::borrow::Cow;
use std::sync::LazyLock;

use catalogue::Level;
use memchr::{memchr, memchr2, memmem};
use spec::Verdict;
use spec::json::Problem;
use spec::table::{EventLine, Marker};

use crate::engine::Case;
use crate::engine::{DONE, DataProblem, FaultPlace, NO_NUMBER, Payload, short};
use crate::frame::{EVENT_STREAM, has_media_type};
use crate::{Frame, Transport};

pub(super) fn json_object(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let place = FaultPlace { expected: Some("a JSON object"), ..FaultPlace::WHOLE };
    match record.payload {
        Payload::Done | Payload::Object => {}
        Payload::NotJson(problem, at) => {
            let before = record.data().get(..at).unwrap_or_default();
            let has_two = problem == DataProblem::Syntax(Problem::TrailingText)
                && before.trim_end_matches([' ', '\t']).ends_with('\n')
                && !before.trim().is_empty();
            // Parsers of Python read these.
            let rest = record.data().get(at..).unwrap_or_default();
            let is_no_number = ["NaN", "Infinity", "-Infinity"].iter().any(|name| rest.starts_with(name));
            let form = match () {
                () if has_two => "two",
                () if is_no_number => NO_NUMBER,
                () => problem.as_str(),
            };
            let place = FaultPlace { at: Some(at), actual: Some(problem.as_str()), form, ..place };
            case.report(&place, || {
                if has_two {
                    "two JSON values in one event: no blank line ends the first".to_owned()
                } else {
                    format!("the data is not JSON: {}", problem.as_str())
                }
            });
        }
        Payload::OtherValue => {
            let kind = match record.data().trim_ascii_start().as_bytes().first() {
                Some(b'[') => "an array",
                Some(b'"') => "a string",
                Some(b'n') => "null",
                Some(b't' | b'f') => "a boolean",
                _ => "a number",
            };
            case.report(&FaultPlace { actual: Some(kind), form: kind, ..place }, || {
                format!("the data is {kind}, not an object")
            });
        }
    }
}

pub(super) fn event_line(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let frame = record.frame;
    if frame.transport != Transport::Http || record.payload == Payload::Done {
        return;
    }
    let line = frame.event.as_deref();
    let inside = || spec::json::string_member(record.data(), "type");
    let expected = match case.dialect().framing.event_line {
        EventLine::AlwaysMessage => Some(Cow::Borrowed("message")),
        EventLine::EqualsType => record.event_type.as_deref().map(Cow::Borrowed),
        // Even as discriminator, it can contradict a type in the data.
        EventLine::Discriminator if line.is_none() => Some(Cow::Borrowed("the type of the event")),
        EventLine::Discriminator => inside(),
        EventLine::DiscriminatorIfUntyped => line.and_then(|_| inside()),
        // SDKs raise an error with this field, and with any other.
        EventLine::None if record.is_error && line == Some("error") => None,
        EventLine::None => line.map(|_| Cow::Borrowed("message")),
        EventLine::Forbidden => line.map(|_| Cow::Borrowed("no event: field")),
    };
    let Some(expected) = expected.filter(|expected| line != Some(expected)) else { return };
    let is_forbidden = case.dialect().framing.event_line == EventLine::Forbidden;
    let (actual, form) = line.map_or(("no event: field", "none"), |line| (line, "other"));
    let place = FaultPlace { expected: Some(&expected), actual: Some(actual), form, ..FaultPlace::WHOLE };
    case.report(&place, || match line {
        Some(line) if is_forbidden => format!("the event has the event: field {line:?}"),
        Some(line) => format!("the event: field is {line:?}, not {expected:?}"),
        None => "the event has no event: field".to_owned(),
    });
}

pub(super) fn done_is_forbidden(case: &mut Case<'_>) {
    let is_done = case.record().is_some_and(|record| record.payload == Payload::Done);
    if is_done && case.dialect().framing.done == Marker::Forbidden {
        let place = FaultPlace {
            expected: Some("no [DONE]"),
            actual: Some("[DONE]"),
            form: "forbidden",
            ..FaultPlace::WHOLE
        };
        case.report(&place, || "the stream has [DONE], which this dialect forbids".to_owned());
    }
}

/// Clients find the marker only by how the data begins.
pub(super) fn done_is_exact(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| record.payload == Payload::Done) else { return };
    if record.data() != DONE {
        case.limit(Level::Should);
        case.fault_of_event("[DONE]", &format!("{:?}", record.data()), || {
            "blanks follow [DONE] in the data of the marker".to_owned()
        });
    }
}

pub(super) fn done_is_required(case: &mut Case<'_>) {
    let stream = case.stream;
    // Truncated streams are reported by other rules.
    if case.dialect().framing.done == Marker::Required
        && stream.transport == Transport::Http
        && stream.done.is_none()
        && stream.has_ended()
    {
        case.fault_of_event("[DONE]", "the end of the stream", || {
            "the stream ends without [DONE]".to_owned()
        });
    }
}

pub(super) fn done_last(case: &mut Case<'_>) {
    if case.stream.done.is_none() {
        return;
    }
    let again = case.record().is_some_and(|record| record.payload == Payload::Done);
    if again {
        case.limit(Level::Should);
    }
    let what = if again { "[DONE] was sent a second time" } else { "an event follows [DONE]" };
    case.expected("nothing after the first [DONE]", || what.to_owned());
}

pub(super) fn terminated(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    if record.frame.transport == Transport::Http && !record.frame.terminated {
        case.expected("a blank line after the last event", || {
            "no blank line ends the last event, so clients drop it".to_owned()
        });
    }
}

pub(super) fn no_id_line(case: &mut Case<'_>) {
    let Some(id) = case.record().and_then(|record| record.frame.id.as_deref()) else { return };
    case.fault_of_event("no id: field", id, || "the event has an id: field".to_owned());
}

pub(super) fn known_fields(case: &mut Case<'_>) {
    let is_error = case.head.is_refusal();
    // In a truncated recording, any line may be incomplete.
    let Some(frame) = case.record().map(|record| record.frame).filter(|frame| frame.terminated) else {
        return;
    };
    let Some(line) = frame.strays.first().filter(|_| !is_error) else { return };
    case.expected("data, event, id, retry or a comment", || {
        format!("the line {} is not an SSE field, so clients ignore it", short(&format!("{line:?}")))
    });
}

/// In a truncated recording, any line may be incomplete.
pub(super) fn only_data(case: &mut Case<'_>) {
    let Some(frame) = case.record().map(|record| record.frame) else { return };
    if frame.transport != Transport::Http || case.head.is_refusal() {
        return;
    }
    let comment = frame.comments.first().map(|comment| format!(":{comment}"));
    // Other lines at the end can be an error, or the rest of one.
    let stray = || frame.strays.first().filter(|_| frame.terminated).map(ToString::to_string);
    // Some clients drop a chunk whose lines begin with another one, and others read no further.
    let form = match () {
        () if comment.is_none() => "line",
        () if !frame.terminated => "last",
        () if frame.data.is_some() => "beside-data",
        () => "comment",
    };
    let Some(line) = comment.or_else(stray) else { return };
    let place = FaultPlace { expected: Some("data: fields and blank lines"), form, ..FaultPlace::WHOLE };
    case.report(&place, || {
        format!("the line {} is not data, and clients fail on it", short(&format!("{line:?}")))
    });
}

pub(super) fn data_spaced(case: &mut Case<'_>) {
    let Some(frame) = case.record().map(|record| record.frame) else { return };
    let before = frame.place(0).and_then(|at| frame.source.get(at.checked_sub(1)?));
    if frame.transport == Transport::Http && before == Some(&b':') {
        case.expected("`data: ` with a space", || "no space follows data:".to_owned());
    }
}

/// `str.splitlines` of Python ends a line at these, too.
pub(super) fn line_ends_escaped(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| record.frame.transport == Transport::Http) else {
        return;
    };
    let data = record.data();
    let may_be = memchr2(0xe2, 0xc2, data.as_bytes()).is_some();
    let found = if may_be { data.find(['\u{2028}', '\u{2029}', '\u{85}']) } else { None };
    let Some((at, end)) = found.and_then(|at| Some((at, data[at..].chars().next()?))) else { return };
    let escape = format!("\\u{:04x}", u32::from(end));
    let place = FaultPlace { at: Some(at), expected: Some(&escape), ..FaultPlace::WHOLE };
    case.report(&place, || {
        format!("U+{:04X} is not escaped, and ends a line for some clients", u32::from(end))
    });
}

pub(super) fn utf8(case: &mut Case<'_>) {
    let Some(at) = case.record().and_then(|record| record.frame.invalid_utf8) else { return };
    case.expected("valid UTF-8", || format!("byte {at} of the recording is not valid UTF-8"));
}

pub(super) fn no_replacement_character(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| record.frame.invalid_utf8.is_none()) else { return };
    let data = record.data();
    let is_plain = memchr(0xef, data.as_bytes()).is_some();
    let plain = if is_plain { data.find('\u{fffd}') } else { None };
    let at = plain.or_else(|| find_escape(data, |unit, _| unit == u32::from(char::REPLACEMENT_CHARACTER)));
    if at.is_some() {
        let place = FaultPlace { at, expected: Some("the original character"), ..FaultPlace::WHOLE };
        case.report(&place, || "the data has U+FFFD, which replaces a lost character".to_owned());
    }
}

pub(super) fn no_lone_surrogate(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Some(at) = lone_surrogate(record.data()) else { return };
    let place =
        FaultPlace { at: Some(at), expected: Some("both halves of a surrogate pair"), ..FaultPlace::WHOLE };
    case.report(&place, || "unpaired surrogate: a character was cut in two".to_owned());
}

/// Returns the place of an escape that is half of a character, whose other half is not beside it.
pub fn lone_surrogate(data: &str) -> Option<usize> {
    find_escape(data, |unit, next| match unit {
        0xd800..0xdc00 => !is_low(next),
        0xdc00..0xe000 => true,
        _ => false,
    })
}

fn is_low(unit: Option<u32>) -> bool {
    unit.is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

/// The function gets an escaped UTF-16 unit, and the one after it.
fn find_escape(data: &str, is_it: impl Fn(u32, Option<u32>) -> bool) -> Option<usize> {
    // Most escapes are line feeds and quotes.
    static ESCAPED: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new("\\u"));
    let bytes = data.as_bytes();
    ESCAPED.find(bytes)?;
    let mut at = 0;
    let unit = |at: usize| {
        let digits = data.get(at + 2..at + 6).filter(|_| bytes.get(at..at + 2) == Some(b"\\u"))?;
        u32::from_str_radix(digits, 16).ok()
    };
    while let Some(found) = memchr(b'\\', &bytes[at..]) {
        at += found;
        at += match unit(at) {
            Some(one) => {
                let next = unit(at + 6);
                if is_it(one, next) {
                    return Some(at);
                }
                if (0xd800..0xdc00).contains(&one) && is_low(next) { 12 } else { 6 }
            }
            None => 2,
        };
        at = at.min(bytes.len());
    }
    None
}

/// Returns whether events of this type are keep-alives.
pub fn is_sign_of_life(name: &str) -> bool {
    matches!(name, "ping" | "keepalive" | "keep-alive" | "keep_alive" | "heartbeat" | "response.ping")
}

pub(super) fn keep_alive_is_comment(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| record.verdict == Verdict::Unknown) else { return };
    let Some(name) = record.event_type.as_deref().filter(|name| is_sign_of_life(name)) else { return };
    let place = FaultPlace { expected: Some("a comment line"), actual: Some(name), ..FaultPlace::WHOLE };
    case.report_here(&place, &mut |other| other.event(name).is_some(), &|| {
        format!("the stream is kept alive by an event {name:?}, which is unknown to clients")
    });
}

pub(super) fn event_stream_content_type(case: &mut Case<'_>) {
    let is_http = case.record().is_none_or(|record| record.frame.transport == Transport::Http);
    if case.stream.events == 0 && is_http {
        content_type(case, EVENT_STREAM, "stream");
    }
}

pub(super) fn json_content_type(case: &mut Case<'_>, _: &Frame<'_>) {
    content_type(case, "application/json", "response");
}

fn content_type(case: &mut Case<'_>, wanted: &str, what: &str) {
    let head = case.head;
    let found = head.content_type.as_deref();
    if head.has_headers && !found.is_some_and(|found| has_media_type(found, wanted)) {
        case.fault_of_event(wanted, found.unwrap_or("no content type"), || {
            format!("the content type of the {what} is {}", found.unwrap_or("missing"))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::lone_surrogate;

    #[test]
    fn surrogates_belong_in_pairs() {
        assert_eq!(lone_surrogate(r#"{"a":"\ud83d\ude00 \u00e9 \\ud83d"}"#), None);
        assert_eq!(lone_surrogate(r#""\ud83d""#), Some(1));
        assert_eq!(lone_surrogate(r#""\ud83d\ud83d\ude00""#), Some(1));
        assert_eq!(lone_surrogate(r#""x\uDE00""#), Some(2));
        assert_eq!(lone_surrogate(r#""\u12"#), None);
    }
}
