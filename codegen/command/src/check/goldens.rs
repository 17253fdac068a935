//! Checks that goldens conform to the dialect of their folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use codegen::dialect::Dialect;
use codegen::formats::{EventLine, Framing, Marker, TypeRule};
use serde_json::Value;

use super::context::{Context, Golden};
use super::frames::{Frame, Kind};
use super::report::{Report, SourcePlace};
use super::schemas::{Fault, Judges};

pub(super) fn check<'c>(context: &'c Context, judges: &mut Judges<'c>, report: &mut Report) {
    let mut lacks = Lacks::default();
    for dialect in context.dialects.values() {
        for golden in context.goldens.iter().filter(|golden| holds_for(golden, &dialect.name)) {
            recording(golden, dialect, judges, (&mut lacks, report));
        }
    }
    lacks.report(report);
    for golden in &context.goldens {
        if !context.spec.join("dialects").join(&golden.dialect).is_dir() {
            let message = format!("there is no dialect \"{}\"", golden.dialect);
            report.find(
                &golden.file,
                SourcePlace::File,
                message,
                "move the golden to the folder of its dialect",
            );
        }
    }
}

/// The folder's dialect, and every version `<dialect>@<version>` of it.
fn holds_for(golden: &Golden, dialect: &str) -> bool {
    dialect.strip_prefix(golden.dialect.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
}

const FRAMING: &str = "follow [framing] in dialect.toml";

/// Required properties that recordings lack, each with the events that lack it.
#[derive(Default)]
struct Lacks {
    /// By property and by what lacks it.
    all: BTreeMap<(String, String), Vec<Lack>>,
}

struct Lack {
    file: PathBuf,
    line: usize,
    dialect: String,
    fault: Fault,
}

impl Lacks {
    /// The lack is noted at the member with that name, or else at the event.
    fn add(&mut self, property: &str, event: &str, lack: Lack) {
        let is_name = |segment: &&str| !segment.bytes().all(|byte| byte.is_ascii_digit());
        let holder = lack.fault.at.rsplit('/').find(is_name).unwrap_or(event).to_owned();
        self.all.entry((property.to_owned(), holder)).or_default().push(lack);
    }

    /// Each property is reported once, at its first event, with the number of events that lack it.
    fn report(self, report: &mut Report) {
        for ((property, holder), lacks) in self.all {
            let events: BTreeSet<_> = lacks.iter().map(|lack| (&lack.file, lack.line)).collect();
            let goldens: BTreeSet<_> = lacks.iter().map(|lack| &lack.file).collect();
            let dialects: BTreeSet<_> = lacks.iter().map(|lack| &lack.dialect).collect();
            let Some(first) = lacks.first() else { continue };
            let message = match events.len() {
                1 => format!("not valid: {} (in {})", first.fault, first.dialect),
                count => format!(
                    "{count} recorded events in {} of {} lack \"{property}\" in {holder}",
                    counted(goldens.len(), "golden"),
                    counted(dialects.len(), "dialect")
                ),
            };
            let help = "make the property optional, as recordings lack it, or correct the recordings";
            report.find(&first.file, SourcePlace::Line(first.line), message, help);
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn recording<'c>(
    golden: &Golden,
    dialect: &'c Dialect,
    judges: &mut Judges<'c>,
    (lacks, report): (&mut Lacks, &mut Report),
) {
    let mut find = |line: usize, message: String, help: &str| {
        report.find(&golden.file, SourcePlace::Line(line), format!("{message} (in {})", dialect.name), help);
    };
    if let Some((line, message)) = misplaced_marker(golden, dialect.file.framing.done) {
        find(line, message, FRAMING);
    }
    for frame in &golden.frames {
        let data = match frame.data.as_deref() {
            None => continue,
            Some("[DONE]") if frame.kind == Kind::Event => continue,
            Some(text) => match serde_json::from_str::<Value>(text) {
                Ok(data) => data,
                Err(error) => {
                    find(frame.line, format!("the data is not JSON: {error}"), "correct the data");
                    continue;
                }
            },
        };
        match faults(frame, &data, dialect, judges) {
            Ok(faults) => {
                for fault in faults {
                    if let Some(property) = fault.lacks.clone() {
                        let (file, line) = (golden.file.clone(), frame.line);
                        let event = data.get("type").and_then(Value::as_str).unwrap_or("the message");
                        let dialect = dialect.name.clone();
                        lacks.add(&property, event, Lack { file, line, dialect, fault });
                        continue;
                    }
                    let help = "correct the recording, or the schema by an erratum";
                    find(frame.line, format!("not valid: {fault}"), help);
                }
            }
            Err((message, help)) => find(frame.line, message, help),
        }
    }
}

fn misplaced_marker(golden: &Golden, done: Marker) -> Option<(usize, String)> {
    let mut events = golden.frames.iter().filter(|frame| frame.kind == Kind::Event).peekable();
    events.peek()?;
    let mark = events.find(|frame| frame.data.as_deref() == Some("[DONE]"));
    let last = golden.frames.last()?.line;
    match (done, mark) {
        (Marker::Required, None) => Some((last, "the final [DONE] is missing".to_owned())),
        (Marker::Forbidden, Some(mark)) => Some((mark.line, "the dialect forbids [DONE]".to_owned())),
        (_, Some(mark)) if mark.line != last => Some((mark.line, "[DONE] is not the last event".to_owned())),
        _ => None,
    }
}

fn faults<'c>(
    frame: &Frame,
    data: &Value,
    dialect: &'c Dialect,
    judges: &mut Judges<'c>,
) -> Result<Vec<Fault>, (String, &'static str)> {
    let root = |role: &str| dialect.file.roots.get(role).map_or("", String::as_str);
    let event = match frame.kind {
        Kind::Sent => return Ok(judges.faults(dialect, root("websocket_request"), data)),
        Kind::Body(200..=299) => return Ok(judges.faults(dialect, root("response"), data)),
        Kind::Body(_) => return Ok(Vec::new()),
        Kind::Event => event_type(&dialect.file.framing, frame, data).map_err(|it| (it, FRAMING))?,
        Kind::Received => {
            let inside = data.get("type").and_then(Value::as_str);
            inside.ok_or_else(|| ("the message has no `type`".to_owned(), "correct the data"))?
        }
    };
    if !dialect.events.contains_key(event) {
        let message = format!("the dialect has no event \"{event}\"");
        return Err((message, "use only events that the dialect lists"));
    }
    let faults = judges.faults(dialect, event, data);
    if frame.kind == Kind::Received && event == "error" && !faults.is_empty() {
        // An error that replies to a message is not an event of a stream, and has its own envelope.
        return Ok(judges.faults(dialect, root("websocket_error"), data));
    }
    Ok(faults)
}

fn event_type<'f>(framing: &'f Framing, frame: &'f Frame, data: &'f Value) -> Result<&'f str, String> {
    let fits = |rule: &&TypeRule| {
        let Some(pointer) = &rule.has else { return true };
        let value = data.pointer(pointer).filter(|value| !value.is_null());
        value.is_some_and(|value| rule.is.as_deref().is_none_or(|text| value == text))
    };
    let typed = framing.types.iter().find(fits);
    let typed = typed.map(|rule| rule.name.as_str());
    let inside = typed.or_else(|| data.get("type").and_then(Value::as_str));
    let line = frame.event.as_deref();
    let found = match (framing.event_line, line, inside) {
        (EventLine::EqualsType, Some(line), Some(inside)) if line != inside => {
            return Err(format!("the `event:` field is \"{line}\", but `type` in the data is \"{inside}\""));
        }
        (EventLine::AlwaysMessage | EventLine::None, Some(line), _) if line != "message" => {
            return Err(format!("the `event:` field is \"{line}\", expected \"message\""));
        }
        (EventLine::Forbidden, Some(line), _) => {
            return Err(format!("the `event:` field is \"{line}\", and the dialect forbids it"));
        }
        (EventLine::EqualsType | EventLine::AlwaysMessage, None, _) => None,
        (EventLine::EqualsType | EventLine::AlwaysMessage, Some(_), inside)
        | (EventLine::None | EventLine::Forbidden, _, inside) => inside,
        (EventLine::Discriminator, line, _) => line,
        (EventLine::DiscriminatorIfUntyped, line, inside) => inside.or(line),
    };
    found.ok_or_else(|| "the event has no type: the field that this dialect uses is missing".to_owned())
}
