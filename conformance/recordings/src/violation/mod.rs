//! Recordings that break a rule: goldens with the edits of its violation.

mod data;
mod event;
mod stream;

use std::borrow::Cow;

use catalogue::{Edit, Side, Target, Violation};
use event::Event;
use spec::table::{EventInfo, Role};
use spec::{APIS, Api};
use stream::Stream;

use crate::capture::Format;
use crate::goldens;

/// Returns the recording that a violation describes, or the edit that fails.
pub fn apply(violation: &Violation) -> Result<Vec<u8>, String> {
    let golden = goldens::golden(violation.golden)
        .ok_or_else(|| format!("there is no golden {}", violation.golden))?;
    edited(golden.format, golden.bytes, violation.edits)
}

/// Applies edits to a recording in the format of goldens: events with LF line ends, a WebSocket log, or one
/// HTTP response. If an edit changes the head, the head precedes the stream; if one adds the request, the result is a
/// recorded exchange.
pub fn edited(format: Format, recording: &[u8], edits: &[Edit]) -> Result<Vec<u8>, String> {
    edited_from(format, recording, edits, 0)
}

/// Applies edits like [`edited`], shifted to a later item of the output.
pub fn edited_from(format: Format, recording: &[u8], edits: &[Edit], item: usize) -> Result<Vec<u8>, String> {
    let mut stream = Stream::of(format, recording);
    for (index, change) in edits.iter().enumerate() {
        edit(&mut stream, change, item).map_err(|problem| format!("edit {}: {problem}", index + 1))?;
    }
    Ok(stream.into_bytes())
}

/// Returns whether edits add the request: the response alone does not break the rule then.
pub fn is_of_request(edits: &[Edit]) -> bool {
    edits.iter().any(|edit| matches!(edit, Edit::Request(_)))
}

/// Returns whether an edit targets a certain item, by its number or its index in the output.
pub fn is_of_item(edit: &Edit) -> bool {
    let (targets, pointer) = match *edit {
        Edit::Swap(one, other) => ([Some(one), Some(other)], ""),
        Edit::Set(target, pointer, _) | Edit::Prepend(target, pointer, _) | Edit::Unset(target, pointer) => {
            ([Some(target), None], pointer)
        }
        Edit::Drop(target)
        | Edit::Duplicate(target)
        | Edit::Insert(_, target, _)
        | Edit::Truncate(target)
        | Edit::Data(target, _)
        | Edit::Field(target, ..)
        | Edit::Unfield(target, _)
        | Edit::Replace(target, ..)
        | Edit::Comment(_, target, _) => ([Some(target), None], ""),
        Edit::Renumber | Edit::Header(..) | Edit::Status(_) | Edit::Request(_) => ([None, None], ""),
    };
    targets.into_iter().flatten().any(|target| at_item(target, 1) != target)
        || in_output(pointer, 1) != pointer
}

fn is_counted(event: &str) -> bool {
    let adds_or_closes =
        |info: &EventInfo| info.level.is_container && matches!(info.role, Role::Open | Role::Close);
    spec::DIALECTS.iter().any(|dialect| dialect.event(event).is_some_and(adds_or_closes))
}

fn at_item(target: Target, item: usize) -> Target {
    let is_counted = target.event.is_some_and(is_counted);
    Target { number: target.number.map(|number| if is_counted { number + item } else { number }), ..target }
}

fn in_output(pointer: &str, item: usize) -> Cow<'_, str> {
    let moved = |api: &&Api| {
        let list = format!("/{}/{}/", api.snapshot?.name(), api.list);
        let (index, rest) = pointer.strip_prefix(&list)?.split_at_checked(1)?;
        let index: usize = index.parse().ok().filter(|_| rest.is_empty() || rest.starts_with('/'))?;
        Some(format!("{list}{}{rest}", index + item))
    };
    APIS.iter().find_map(moved).map_or(Cow::Borrowed(pointer), Cow::Owned)
}

fn edit(stream: &mut Stream, edit: &Edit, item: usize) -> Result<(), String> {
    let find = |stream: &Stream, target: Target| find(stream, at_item(target, item));
    let each =
        |stream: &mut Stream, target: Target, edit: &mut dyn FnMut(&mut Event) -> Result<(), String>| {
            find(stream, target)?.into_iter().try_for_each(|at| edit(&mut stream.events[at]))
        };
    match *edit {
        Edit::Drop(target) => {
            for at in find(stream, target)?.into_iter().rev() {
                stream.events.remove(at);
            }
        }
        Edit::Duplicate(target) => {
            for at in find(stream, target)?.into_iter().rev() {
                stream.events.insert(at, stream.events[at].clone());
            }
        }
        Edit::Swap(one, other) => match (&*find(stream, one)?, &*find(stream, other)?) {
            ([one], [other]) => stream.events.swap(*one, *other),
            _ => return Err("swap needs two events".to_owned()),
        },
        Edit::Set(target, pointer, value) => {
            let value = data::parse(value)?;
            let pointer = in_output(pointer, item);
            each(stream, target, &mut |event| event.edit_data(|root| data::set(root, &pointer, &value)))?;
        }
        Edit::Prepend(target, pointer, text) => {
            let pointer = in_output(pointer, item);
            each(stream, target, &mut |event| event.edit_data(|root| data::prepend(root, &pointer, text)))?;
        }
        Edit::Unset(target, pointer) => {
            let pointer = in_output(pointer, item);
            each(stream, target, &mut |event| event.edit_data(|root| data::unset(root, &pointer)))?;
        }
        Edit::Insert(side, target, data) => {
            for at in find(stream, target)?.into_iter().rev() {
                let event = stream.events[at].another(data)?;
                stream.events.insert(at + usize::from(side == Side::After), event);
            }
        }
        Edit::Truncate(target) => {
            let at = find(stream, target)?[0];
            stream.events.truncate(at + 1);
        }
        Edit::Renumber => stream.renumber()?,
        Edit::Data(target, bytes) => each(stream, target, &mut |event| event.set_data(bytes))?,
        Edit::Field(target, name, bytes) => each(stream, target, &mut |event| event.set_field(name, bytes))?,
        Edit::Unfield(target, name) => each(stream, target, &mut |event| event.remove_field(name))?,
        Edit::Replace(target, old, new) => each(stream, target, &mut |event| event.replace(old, new))?,
        Edit::Comment(side, target, bytes) => {
            for at in find(stream, target)?.into_iter().rev() {
                let comment = stream.events[at].comment(bytes)?;
                stream.events.insert(at + usize::from(side == Side::After), comment);
            }
        }
        Edit::Header(name, value) => stream.set_header(name, value)?,
        Edit::Status(status) => stream.set_status(status)?,
        Edit::Request(body) => stream.set_request(body)?,
    }
    Ok(())
}

/// There is at least one.
fn find(stream: &Stream, target: Target) -> Result<Vec<usize>, String> {
    let is_meant = |name: &str| match target.event {
        Some(wanted) => wanted == name,
        None => !name.starts_with('>'),
    };
    let all: Vec<usize> = (stream.events.iter().enumerate())
        .filter(|(_, event)| event.name.as_deref().is_some_and(is_meant))
        .map(|(at, _)| at)
        .collect();
    let name = target.event.unwrap_or("event");
    match target.number {
        None if all.is_empty() => Err(format!("there is no {name}")),
        None => Ok(all),
        Some(number) => match all.get(number - 1) {
            Some(at) => Ok(vec![*at]),
            None => Err(format!("there is no {name} number {number}, only {}", all.len())),
        },
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    const FIRST: Target = Target { event: Some("response.created"), number: Some(1) };
    const SECOND: Target = Target { event: None, number: Some(2) };
    const DELTAS: Target = Target { event: Some("response.output_text.delta"), number: None };

    fn edited(edits: &'static [Edit]) -> String {
        edit_of("openai/text", edits).unwrap()
    }

    fn error(edits: &'static [Edit]) -> String {
        edit_of("openai/text", edits).unwrap_err()
    }

    fn edit_of(golden: &'static str, edits: &'static [Edit]) -> Result<String, String> {
        let bytes = apply(&Violation { golden, also: &[], edits })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn no_edit_no_change() {
        for golden in goldens::GOLDENS {
            assert_eq!(Stream::of(golden.format, golden.bytes).into_bytes(), golden.bytes, "{}", golden.name);
        }
    }

    #[test]
    fn events_are_moved() {
        let golden = edited(&[]);
        let count = |text: &str| text.matches("event: response.output_text.delta\n").count();
        assert_eq!(count(&edited(&[Edit::Drop(DELTAS)])), 0);
        assert_eq!(count(&edited(&[Edit::Duplicate(DELTAS)])), 2 * count(&golden));
        let swapped = edited(&[Edit::Swap(FIRST, SECOND)]);
        assert!(swapped.starts_with("event: response.in_progress\n"), "{swapped}");
        assert_eq!(edited(&[Edit::Truncate(FIRST)]).matches("event:").count(), 1);
        let inserted = edited(&[
            Edit::Insert(Side::Before, FIRST, r#"{"type":"x","sequence_number":7}"#),
            Edit::Renumber,
        ]);
        assert!(inserted.starts_with(
            "event: x\ndata: {\"type\":\"x\",\"sequence_number\":0}\n\nevent: response.created\n"
        ));
        assert!(inserted.contains("\"sequence_number\":1"));
    }

    #[test]
    fn edits_can_be_made_of_another_item() {
        let parallel = goldens::golden("openai/parallel-function-calls").unwrap();
        let named = catalogue::rule("item/call-named").unwrap().in_api("").violation.edits;
        let of = |item| edited_from(parallel.format, parallel.bytes, named, item);
        let second = String::from_utf8(of(1).unwrap()).unwrap();
        let count = |text: &str, words: &str| text.matches(words).count();
        assert_eq!((count(&second, "\"call_id\":\"\""), count(&second, "\"call_id\":\"call_2\"")), (3, 0));
        assert!(of(2).unwrap_err().contains("there is no response.output_item.added number 3, only 2"));
        assert!(
            named.iter().all(is_of_item) && !is_of_item(&Edit::Renumber) && !is_of_item(&Edit::Drop(DELTAS))
        );
        assert!(
            is_of_item(&Edit::Unset(FIRST, "/response/output/0"))
                && !is_of_item(&Edit::Unset(FIRST, "/response/output"))
        );
    }

    #[test]
    fn bytes_are_changed() {
        let text = edited(&[
            Edit::Data(FIRST, b"{"),
            Edit::Field(FIRST, "id", b"7"),
            Edit::Comment(Side::Before, FIRST, b"ping"),
            Edit::Replace(FIRST, b"\n\n", b"\r\n\r\n"),
        ]);
        assert!(text.starts_with(": ping\n\nid: 7\nevent: response.created\ndata: {\r\n\r\n"), "{text}");
        assert!(edited(&[Edit::Unfield(FIRST, "event")]).starts_with("data: "));
        let http = edited(&[Edit::Status(500), Edit::Header("Content-Type", b"text/plain")]);
        assert!(http.starts_with("HTTP/1.1 500 \r\ncontent-type: text/plain\r\n\r\nevent:"), "{http}");
    }

    #[test]
    fn a_stream_is_the_response_to_a_request() {
        let golden = edited(&[]);
        let text = edited(&[Edit::Request(r#"{"n":2}"#), Edit::Header("via", b"1.1 a")]);
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[0]["request"]["body"]), (3, &r#"{"n":2}"#.into()), "{text}");
        assert_eq!(lines[0]["response"]["headers"][1], serde_json::json!(["via", "1.1 a"]), "{text}");
        assert_eq!((&lines[1]["text"], &lines[2]["end"]), (&golden.into(), &"closed".into()), "{text}");
    }

    #[test]
    fn messages_of_a_log_have_a_direction() {
        const LOG: &str = "open-responses/websocket-two-turns";
        const ASKED: Target = Target { event: Some(">response.create"), number: Some(2) };
        let golden = edit_of(LOG, &[]).unwrap();
        let lines = |edits| edit_of(LOG, edits).unwrap().lines().count();
        assert_eq!(lines(&[Edit::Drop(ASKED)]), golden.lines().count() - 1);
        assert_eq!(lines(&[Edit::Truncate(FIRST)]), 2);
        // Only messages of the server are events of the stream.
        assert_eq!(lines(&[Edit::Truncate(Target { event: None, number: Some(1) })]), 2);
        let unset = edit_of(LOG, &[Edit::Unset(ASKED, "/previous_response_id")]).unwrap();
        assert_eq!(unset.matches("\"sent\"").count(), golden.matches("\"sent\"").count());
        assert!(unset.len() < golden.len());
        assert_eq!(edit_of(LOG, &[Edit::Renumber]).unwrap(), golden);
        let broken = edit_of(LOG, &[Edit::Data(FIRST, b"{\"a\":")]).unwrap();
        assert!(broken.contains(r#"{"recv":"{\"a\":"}"#), "{broken}");
        let more = edit_of(LOG, &[Edit::Insert(Side::After, ASKED, r#"{"type":"x"}"#)]).unwrap();
        assert!(more.contains("{\"sent\":{\"type\":\"x\"}}\n"), "{more}");
        for edit in
            [Edit::Field(FIRST, "id", b"1"), Edit::Comment(Side::After, FIRST, b""), Edit::Status(500)]
        {
            assert!(edit_of(LOG, Box::leak(Box::new([edit]))).unwrap_err().contains("log"), "{edit:?}");
        }
    }

    #[test]
    fn an_answer_has_a_head_and_a_body() {
        const BODY: Target = Target { event: Some("body"), number: Some(1) };
        const ANSWER: &str = "open-responses/error";
        let edits = &[
            Edit::Status(500),
            Edit::Header("Content-Type", b"text/html"),
            Edit::Unset(BODY, "/error/code"),
        ];
        let text = edit_of(ANSWER, edits).unwrap();
        assert!(text.starts_with("HTTP/1.1 500 \r\ncontent-type: text/html\r\n"), "{text}");
        assert!(text.contains("\r\n\r\n{\"error\":{") && !text.contains("\"code\""), "{text}");
        assert!(edit_of(ANSWER, &[Edit::Data(BODY, b"Oh no.")]).unwrap().ends_with("\r\n\r\nOh no."));
        assert!(edit_of(ANSWER, &[Edit::Insert(Side::After, BODY, "{}")]).unwrap_err().contains("one body"));
    }

    #[test]
    fn edits_that_cannot_be_made_are_told() {
        const NONE: Target = Target { event: Some("x"), number: Some(1) };
        assert_eq!(error(&[Edit::Renumber, Edit::Drop(NONE)]), "edit 2: there is no x number 1, only 0");
        assert!(error(&[Edit::Prepend(FIRST, "/response", "x")]).contains("no text at \"/response\""));
        assert!(error(&[Edit::Unset(FIRST, "/x")]).contains("no value at \"/x\""));
        assert!(error(&[Edit::Replace(FIRST, b"nowhere", b"")]).contains("does not contain the bytes"));
        assert!(error(&[Edit::Unfield(FIRST, "id")]).contains("no line `id`"));
    }
}
