//! Goldens are good streams of the dialect whose folder they are in.

use serde_json::Value;

use super::context::{Context, Golden};
use super::report::{Place, Report};
use super::schemas::Judges;
use super::sse::Frame;
use crate::dialect::Dialect;
use crate::formats::{EventLine, Marker};

pub(super) fn check<'c>(context: &'c Context, judges: &mut Judges<'c>, report: &mut Report) {
    for dialect in context.dialects.values() {
        for golden in context.goldens.iter().filter(|golden| holds_for(golden, &dialect.name)) {
            stream(golden, dialect, judges, report);
        }
    }
    for golden in &context.goldens {
        if !context.spec.join("dialects").join(&golden.dialect).is_dir() {
            let message = format!("there is no dialect \"{}\"", golden.dialect);
            report.find(
                &golden.file,
                Place::File,
                message,
                "a golden belongs into the folder of its dialect",
            );
        }
    }
}

/// A golden holds for its dialect, and for every version `<dialect>@<version>` of it.
fn holds_for(golden: &Golden, dialect: &str) -> bool {
    dialect.strip_prefix(golden.dialect.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
}

fn stream<'c>(golden: &Golden, dialect: &'c Dialect, judges: &mut Judges<'c>, report: &mut Report) {
    let mut find = |line: usize, message: String, help: &str| {
        report.find(&golden.file, Place::Line(line), format!("{message} (in {})", dialect.name), help);
    };
    let framing = "make the stream as [framing] in the dialect.toml says";
    let marks: Vec<usize> = golden
        .frames
        .iter()
        .filter(|frame| frame.data.as_deref() == Some("[DONE]"))
        .map(|f| f.line)
        .collect();
    let last = golden.frames.last().map_or(1, |frame| frame.line);
    match (dialect.file.framing.done, marks.as_slice()) {
        (Marker::Required, []) => find(last, "the marker [DONE] is missing at the end".to_owned(), framing),
        (Marker::Forbidden, [line, ..]) => {
            find(*line, "the dialect has no marker [DONE]".to_owned(), framing);
        }
        (_, [first, ..]) if *first != last => {
            find(*first, "something comes after [DONE]".to_owned(), framing);
        }
        _ => {}
    }
    for frame in &golden.frames {
        let data = match frame.data.as_deref() {
            None | Some("[DONE]") => continue,
            Some(text) => match serde_json::from_str::<Value>(text) {
                Ok(data) => data,
                Err(error) => {
                    find(frame.line, format!("the data are not JSON: {error}"), "correct the data");
                    continue;
                }
            },
        };
        let event = match event_type(dialect.file.framing.event_line, frame, &data) {
            Ok(event) => event,
            Err(message) => {
                find(frame.line, message, framing);
                continue;
            }
        };
        if !dialect.events.contains_key(event) {
            find(
                frame.line,
                format!("the dialect has no event \"{event}\""),
                "goldens have listed events only",
            );
        }
        for fault in judges.faults(dialect, event, &data) {
            find(
                frame.line,
                format!("not valid: {fault}"),
                "correct the stream, or the schema by an erratum",
            );
        }
    }
}

fn event_type<'f>(rule: EventLine, frame: &'f Frame, data: &'f Value) -> Result<&'f str, String> {
    let inside = data.get("type").and_then(Value::as_str);
    let line = frame.event.as_deref();
    let found = match (rule, line, inside) {
        (EventLine::EqualsType, Some(line), Some(inside)) if line != inside => {
            return Err(format!("the event line says \"{line}\", the data say \"{inside}\""));
        }
        (EventLine::AlwaysMessage, Some(line), _) if line != "message" => {
            return Err(format!("the event line says \"{line}\"; in this dialect it is always \"message\""));
        }
        (EventLine::EqualsType | EventLine::AlwaysMessage, None, _) => None,
        (EventLine::EqualsType | EventLine::AlwaysMessage, Some(_), inside) => inside,
        (EventLine::Discriminator, line, _) => line,
        (EventLine::DiscriminatorIfUntyped, line, inside) => inside.or(line),
    };
    found.ok_or_else(|| "the type of the event is missing where the dialect has it".to_owned())
}
