//! The shape of a recording: the order of its events, without the parts that differ between responses.
//!
//! A line has the type of an event, the scope it belongs to, its indices and ids, and the kind of value that it opens or
//! closes; an event with several effects has a line for each. Ids are numbered in order of appearance, repeated deltas count as one, and text, times, usage,
//! sequence numbers and keep-alives are omitted. Two responses to one request have the same shape, unless the server
//! has changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Read;

use serde_json::Value;
use spec::json::{at, string};
use spec::table::{EventInfo, Role};
use spec::{Api, Dialect, Slot, View};

use crate::Checking;
use crate::capture::{ByValue, Entry, Format, Loss, Piece, Reader};
use checker::is_sign_of_life;
use checker::{Observer, Payload, Record, RuleSets, Seen};
use results::text::visible;

/// Maximum number of lines of a shape.
const LINES: usize = 2_000;
/// Maximum length of a name from the server, and maximum number of output items.
const NAME: usize = 64;
const ITEMS: usize = 50;

/// Returns the shape of a recording as text, or `None` if it has no events. Without a dialect, each stream's dialect is
/// recognised.
///
/// # Errors
///
/// If it cannot be read, or is too long for a snapshot.
pub fn shape(
    input: &mut dyn Read,
    format: Option<Format>,
    dialect: Option<&'static Dialect>,
) -> Result<Option<String>, String> {
    let mut tracing = Tracing::default();
    // A shape depends on no rules.
    let sets = RuleSets::new(BTreeMap::new(), |_| false);
    let mut checking = match dialect {
        Some(dialect) => Checking::new(&sets.of(dialect), false),
        None => Checking::recognising(&sets, false),
    };
    let mut step = |entry: Entry<'_>| {
        tracing.entry(&entry);
        checking.entry(&entry, &mut tracing);
    };
    Reader::new(format).read(input, &mut Piece::default(), &mut ByValue(&mut step))?;
    tracing.finish()
}

/// The shape of a recording while it is read and checked.
#[derive(Debug, Default)]
pub struct Tracing {
    events: u64,
    exchanges: u64,
    ids: HashMap<String, usize>,
    /// The deltas since the last other event.
    deltas: BTreeSet<String>,
    text: String,
    lines: usize,
}

impl Tracing {
    /// Adds the next entry of the recording; events are observed.
    pub fn entry(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Exchange(_) => {
                self.exchanges += 1;
                self.ids.clear();
                if self.exchanges > 1 {
                    self.line(&format!("(exchange {})", self.exchanges));
                }
            }
            Entry::Event(_) | Entry::Row(_) => {}
            Entry::Body(_) => self.line("(a non-streaming response)"),
            Entry::Sent(frame) => {
                let kind = frame.data.as_deref().and_then(|data| name(data, "type"));
                self.line(&format!("(sent: {})", kind.as_deref().unwrap_or("a message without a type")));
            }
            Entry::Lost(Loss::Left) => self.line("(the client disconnected)"),
            Entry::Lost(_) => self.line("(the connection was lost)"),
        }
    }

    /// Returns the shape, or `None` if there were no events.
    pub fn finish(self) -> Result<Option<String>, String> {
        if self.lines > LINES {
            return Err(format!("its shape has {} lines; at most {LINES} are compared", self.lines));
        }
        Ok((self.events > 0).then_some(self.text))
    }

    fn event(&mut self, api: &Api, record: &Record<'_>) {
        let line = match record.event_type.as_deref() {
            Some(kind) if !kind.is_empty() => shown(kind),
            _ => "(an event without a type)".to_owned(),
        };
        let mut has_any = false;
        for (info, view) in record.views() {
            has_any = true;
            self.effect(&line, api, info, &view);
        }
        if !has_any {
            self.line(&line);
        }
    }

    fn effect(&mut self, kind: &str, api: &Api, info: &EventInfo, view: &View<'_>) {
        let mut line = format!("{kind}  {}", info.level.name);
        for (nth, slot) in info.level.key.iter().enumerate() {
            let index = view.count(*slot).map_or_else(|| "?".to_owned(), |index| index.to_string());
            line.extend([if nth == 0 { " " } else { "." }, &index]);
        }
        let value = view.snapshot(api).filter(|_| info.level.is_root).or_else(|| view.raw(Slot::Value));
        let value = value.filter(|value| value.starts_with('{')).unwrap_or_default();
        let id = if info.level.is_root || info.level.is_container {
            at(value, "/id").and_then(string)
        } else {
            api.id.and_then(|slot| view.raw(slot)).and_then(string)
        };
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            let next = self.ids.len() + 1;
            let number = *self.ids.entry(id.into_owned()).or_insert(next);
            let _ = write!(line, " #{number}");
        }
        let stop = api.stop.filter(|(scope, _)| *scope == info.scope).map(|(_, member)| member);
        let status = Some(api.status.member).filter(|member| !member.is_empty());
        let members = [Some("type"), status, stop.filter(|member| Some(*member) != status)];
        for told in members.iter().flatten().filter_map(|member| name(value, member)) {
            line.extend([" ", &told]);
        }
        if info.role == Role::Terminal {
            line += &output(value, api);
        }
        if info.role == Role::Delta { self.delta(&line) } else { self.line(&line) }
    }

    /// Repeated deltas count as one, as the model decides their number.
    fn delta(&mut self, line: &str) {
        if self.lines <= LINES && self.deltas.insert(line.to_owned()) {
            self.write(&format!("{line} ..."));
        }
    }

    fn line(&mut self, line: &str) {
        self.deltas.clear();
        self.write(line);
    }

    fn write(&mut self, line: &str) {
        self.lines += 1;
        if self.lines <= LINES {
            self.text.extend([line, "\n"]);
        }
    }
}

impl Observer for Tracing {
    fn record(&mut self, seen: &Seen<'_>) {
        let record = seen.record;
        let kind = record.event_type.as_deref().unwrap_or_default();
        self.events += u64::from(record.payload != Payload::Done);
        match record.payload {
            // Their number depends on timing.
            Payload::Object if is_sign_of_life(kind) => {}
            Payload::Object => self.event(seen.dialect.api, record),
            Payload::Done => self.line("[DONE]"),
            Payload::OtherValue => self.line("(data that is not an object)"),
            Payload::NotJson(..) => self.line("(data that is not JSON)"),
        }
    }
}

fn output(response: &str, api: &Api) -> String {
    let Some(Ok(items)) = at(response, &format!("/{}", api.list)).map(serde_json::from_str::<Vec<Value>>)
    else {
        return String::new();
    };
    let kinds = items.iter().take(ITEMS).map(|item| item.get("type").and_then(Value::as_str));
    let kinds: Vec<String> = kinds.map(|kind| kind.map_or_else(|| "?".to_owned(), shown)).collect();
    let more = items.len().saturating_sub(ITEMS);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(" with {}{more}", if kinds.is_empty() { "no output".to_owned() } else { kinds.join(", ") })
}

fn name(value: &str, member: &str) -> Option<String> {
    at(value, &format!("/{member}")).and_then(string).map(|name| shown(&name))
}

/// Names from the server are escaped and shortened.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(NAME).collect();
    let mut shown = visible(&short);
    if short.len() < name.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
