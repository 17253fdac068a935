//! Damages of good streams, as `tests/damages/<api>.toml` describes them.
//!
//! A damage is a list of edits, as in the `violation` block of a rule page. `at` finds events first: each place is after
//! the one before it, and `$1` in an edit is the event at the first place. If a place has several events (`all`), the
//! edit is repeated for each. `<$1/index>` is a value of the event at the first place, `<$1/index+1>` the next number,
//! and `<$1>` the whole event. A stream without such events is not damaged.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use codegen::formats::Edits;
use conformance::capture::Format;
use conformance::{goldens, violation};
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::corpus::{self, Recording};
use crate::edited;

/// The damages of an API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Damages {
    /// The API.
    pub api: String,
    /// The dialect of its first party, whose good streams are damaged.
    pub dialect: String,
    /// The good streams, goldens and recordings, that each kind is made in at least, if the corpus is small.
    pub least: Option<usize>,
    /// The damages.
    #[serde(rename = "damage")]
    pub all: Vec<Damage>,
}

/// A damage. It has exactly one of `rule`, `equivalent` and `tolerated`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Damage {
    /// Its name.
    pub name: String,
    /// What is wrong with the stream, unless the name says so.
    #[serde(default)]
    pub what: String,
    /// Few recordings have such an event.
    #[serde(default)]
    pub is_rare: bool,
    /// The only golden that it is made in, unless it is made in every good stream.
    golden: Option<String>,
    /// The events that the edits change, besides those that they name.
    #[serde(default)]
    at: Vec<Place>,
    /// The edits, one a line.
    edits: String,
    /// The rule that names the cause.
    pub rule: Option<String>,
    /// Whether the rule reports it as a SHOULD: clients read the stream, or no document forbids it. Otherwise it is a MUST.
    #[serde(default)]
    pub is_should: bool,
    /// Why no client can tell the stream from a good one.
    pub equivalent: Option<String>,
    /// Who sends such streams, which clients read.
    pub tolerated: Option<String>,
}

/// The place of events.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Their type.
    event: Option<String>,
    /// Values at pointers.
    #[serde(default)]
    is: BTreeMap<String, Value>,
    /// Values that they do not have at pointers.
    #[serde(default)]
    not: BTreeMap<String, Value>,
    /// Pointers to values that are not null.
    #[serde(default)]
    has: Vec<String>,
    /// Pointers to values that are null or missing.
    #[serde(default)]
    lacks: Vec<String>,
    /// A pointer to a value that the event at the place before has, too.
    same: Option<String>,
    /// The last of them; otherwise the first one.
    #[serde(default)]
    last: bool,
    /// All of them.
    #[serde(default)]
    all: bool,
    /// There is none.
    #[serde(default)]
    none: bool,
}

/// A good stream.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Its name.
    pub name: String,
    /// As it is sent.
    pub text: String,
    pub(crate) events: Vec<Event>,
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Value,
    /// Its data, if that is not JSON.
    pub(crate) text: String,
    pub(crate) has_line: bool,
}

impl Damages {
    /// Reads the damages of all APIs.
    pub fn all() -> Vec<Self> {
        let files = corpus::files(&corpus::repository().join("tests/damages"), &["toml"]);
        let read = |path: &std::path::PathBuf| {
            let text = fs::read_to_string(path).expect("it is there");
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        files.iter().map(read).collect()
    }

    /// Returns the recordings of its first party that have no finding.
    pub fn recordings(&self) -> Vec<Stream> {
        let dialect = corpus::dialect(&self.dialect);
        let is_first_party =
            |of: &Recording| matches!(of.vendor.as_str(), "anthropic" | "gemini" | "openai" | "vertex");
        let Some(folder) = corpus::of_api(&self.api) else { return Vec::new() };
        let is_stream = |file: &str| Path::new(file).extension().is_some_and(|end| end == "sse");
        let is_meant = |of: &Recording| of.class == "real" && is_stream(&of.file) && is_first_party(of);
        let files = corpus::index(&folder).into_iter().filter(is_meant);
        let streams = files.map(|of| Stream {
            name: of.short(),
            ..Stream::recorded(&folder.join(of.file), !dialect.framing.types.is_empty())
        });
        good(&self.dialect, streams)
    }
}

/// Returns the goldens of a dialect that have no finding.
pub fn goldens(dialect: &str) -> Vec<Stream> {
    let own = goldens::GOLDENS.iter().filter(|golden| golden.dialect == dialect);
    let streams = own.filter(|golden| golden.format == Format::Sse).map(|golden| {
        Stream::of(&format!("{}/{}", golden.dialect, golden.name), &String::from_utf8_lossy(golden.bytes))
    });
    good(dialect, streams)
}

fn good(dialect: &str, streams: impl Iterator<Item = Stream>) -> Vec<Stream> {
    let is_good = |stream: &Stream| {
        let found = edited::check_bytes(dialect, stream.text.as_bytes()).expect("it can be read");
        found.binding.is_empty()
    };
    streams.filter(is_good).collect()
}

impl Damage {
    /// Damages a stream, if it has what the damage is about.
    pub fn make(&self, stream: &Stream) -> Option<Vec<u8>> {
        if self.golden.as_ref().is_some_and(|golden| *golden != stream.name) {
            return None;
        }
        let mut places: Vec<Vec<usize>> = Vec::new();
        for place in &self.at {
            let before = places.last().filter(|before| !before.is_empty());
            let (previous, from) = before.map_or((None, 0), |at| (Some(at[0]), at[at.len() - 1] + 1));
            places.push(place.find(stream, previous, from)?);
        }
        let mut lines = Vec::new();
        for line in self.edits.lines() {
            lines.extend(filled(line, &places, stream)?);
        }
        let edits =
            Edits::try_from(lines.join("\n")).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        violation::edited(Format::Sse, stream.text.as_bytes(), &edited::constants(&edits)).ok()
    }
}

impl Place {
    /// Returns the events at this place; `None` if there are none, or if there should be none.
    fn find(&self, stream: &Stream, previous: Option<usize>, from: usize) -> Option<Vec<usize>> {
        let previous = previous.map(|at| &stream.events[at]);
        let found: Vec<usize> =
            (from..stream.events.len()).filter(|at| self.fits(&stream.events[*at], previous)).collect();
        match (found.as_slice(), self.none) {
            ([], true) => Some(Vec::new()),
            ([], false) | (_, true) => None,
            (all, false) if self.all => Some(all.to_vec()),
            ([.., last], false) if self.last => Some(vec![*last]),
            ([first, ..], false) => Some(vec![*first]),
        }
    }

    fn fits(&self, event: &Event, previous: Option<&Event>) -> bool {
        let at = |pointer: &String| event.data.pointer(pointer);
        let is_there = |pointer: &String| at(pointer).is_some_and(|value| !value.is_null());
        self.event.as_ref().is_none_or(|name| *name == event.name)
            && self.is.iter().all(|(pointer, value)| at(pointer) == Some(value))
            && self.not.iter().all(|(pointer, value)| at(pointer) != Some(value))
            && self.has.iter().all(is_there)
            && !self.lacks.iter().any(is_there)
            && self.same.as_ref().is_none_or(|pointer| {
                at(pointer).is_some() && previous.and_then(|event| event.data.pointer(pointer)) == at(pointer)
            })
    }
}

impl Stream {
    fn of(name: &str, text: &str) -> Self {
        let events = text.split_terminator("\n\n").map(Event::of).collect();
        Self { name: name.to_owned(), text: text.to_owned(), events }
    }

    /// Reads a recording.
    pub fn recorded(path: &Path, is_untyped: bool) -> Self {
        let bytes = fs::read(path).expect("it is there");
        Self::of(&path.display().to_string(), &framed(&String::from_utf8_lossy(&bytes), is_untyped))
    }
}

impl Event {
    fn of(frame: &str) -> Self {
        let data = frame.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        let name = ["type", "object", "event_type"].iter().find_map(|name| value.get(name)?.as_str());
        let text = if value.is_null() { data.to_owned() } else { String::new() };
        let has_line = frame.starts_with("event:");
        Self { name: name.unwrap_or(data).to_owned(), data: value, text, has_line }
    }

    /// Returns it as it is sent.
    pub(crate) fn frame(&self) -> String {
        let line = if self.has_line { format!("event: {}\n", self.name) } else { String::new() };
        let data = if self.data.is_null() { self.text.clone() } else { self.data.to_string() };
        format!("{line}data: {data}\n\n")
    }
}

/// Returns a line of edits for each event that it is about.
fn filled(line: &str, places: &[Vec<usize>], stream: &Stream) -> Option<Vec<String>> {
    static VALUE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<\$(\d)(/[^>+]*)?(?:\+(\d+))?>").expect("a pattern"));
    static EVENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$(\d)").expect("a pattern"));
    let place = |found: &Captures<'_>| found[1].parse::<usize>().expect("a digit") - 1;
    let mut is_there = true;
    let line = VALUE.replace_all(line, |found: &Captures<'_>| {
        let event = &stream.events[places[place(found)][0]];
        let value = event.data.pointer(found.get(2).map_or("", |pointer| pointer.as_str()));
        is_there &= value.is_some();
        let value = value.cloned().unwrap_or_default();
        match found.get(3) {
            Some(more) => {
                let more: u64 = more.as_str().parse().expect("a number");
                (value.as_u64().unwrap_or_default() + more).to_string()
            }
            None => value.to_string(),
        }
    });
    if !is_there {
        return None;
    }
    let named: Vec<usize> = EVENT.captures_iter(&line).map(|found| place(&found)).collect();
    let repeated = named.iter().copied().find(|named| places[*named].len() > 1);
    let times = repeated.map_or(1, |repeated| places[repeated].len());
    let each = (0..times).map(|nth| {
        let number = |found: &Captures<'_>| {
            let events = &places[place(found)];
            format!("#{}", events[nth.min(events.len() - 1)] + 1)
        };
        EVENT.replace_all(&line, number).into_owned()
    });
    Some(each.collect())
}

/// Returns a recording as goldens are written: an `event:` line unless data alone says the type, and one line of data.
fn framed(text: &str, is_untyped: bool) -> String {
    let mut framed = String::new();
    let mut data: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        } else if line.is_empty() && !data.is_empty() {
            let joined = data.join("\n");
            let value: Option<Value> = serde_json::from_str(&joined).ok();
            let name = value.as_ref().and_then(|value| value.get("type")?.as_str()).filter(|_| !is_untyped);
            if let Some(name) = name {
                let _ = writeln!(framed, "event: {name}");
            }
            let _ = write!(framed, "data: {}\n\n", joined.trim());
            data.clear();
        }
    }
    framed
}
