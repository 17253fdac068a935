//! What is wrong, and where.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use spec::catalogue::{Level, Rule};

use super::excerpt::Excerpt;
use super::locate;
use super::record::Record;

/// A place where a stream breaks a rule, and how often it does so in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// How binding it is here.
    pub level: Level,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Which frame of the stream it is about, counted from 1.
    pub frame: u64,
    /// Which event of the stream that is, counted from 1.
    pub event: u64,
    /// The type of the event.
    pub event_type: Option<String>,
    /// Its sequence number.
    pub sequence_number: Option<u64>,
    /// When it came.
    pub time: Option<Duration>,
    /// The line of the recording.
    pub line: u64,
    /// From which byte of the recording to which.
    pub bytes: Range<u64>,
    /// JSON pointer to the value in the data.
    pub pointer: Option<String>,
    /// What should stand there.
    pub expected: Option<String>,
    /// What stands there.
    pub actual: Option<String>,
    /// The line, cut around the place.
    pub excerpt: Excerpt,
    /// How often the stream does the same.
    pub count: u64,
}

/// What a rule says of a record.
pub(crate) struct Place<'p> {
    /// JSON pointer to the value that is wrong.
    pub(crate) pointer: Option<&'p str>,
    /// The byte of the data, where there is no value to point at.
    pub(crate) at: Option<usize>,
    /// What should stand there.
    pub(crate) expected: Option<&'p str>,
    /// What stands there.
    pub(crate) actual: Option<&'p str>,
}

/// Findings, each listed once.
#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
    seen: HashMap<String, usize>,
    omitted: u64,
    /// Kept to be written anew without allocating.
    key: String,
}

/// So many different findings are listed for one stream.
const MOST: usize = 1000;

impl Findings {
    /// Notes a finding. The message is asked for only when the stream has not done the same before.
    pub(crate) fn add(
        &mut self,
        rule: &'static Rule,
        level: Level,
        record: &Record<'_>,
        place: &Place<'_>,
        message: impl FnOnce() -> String,
    ) {
        self.write_key(rule, record, place);
        if let Some(index) = self.seen.get(&self.key) {
            self.found[*index].count += 1;
        } else if self.found.len() == MOST {
            self.omitted += 1;
        } else {
            self.seen.insert(self.key.clone(), self.found.len());
            self.found.push(finding(rule, level, record, place, message()));
        }
    }

    /// There were so many faults more, of which nothing is known.
    pub(crate) const fn add_omitted(&mut self, faults: usize) {
        self.omitted += faults as u64;
    }

    /// Two findings are the same when all of this is.
    fn write_key(&mut self, rule: &Rule, record: &Record<'_>, place: &Place<'_>) {
        self.key.clear();
        let event_type = record.event_type.as_deref().unwrap_or_default();
        let _ = write!(self.key, "{}\0{event_type}\0{}\0", rule.id, place.expected.unwrap_or_default());
        let Some(pointer) = place.pointer else {
            self.key.push_str(place.actual.unwrap_or_default());
            return;
        };
        for segment in pointer.split('/') {
            let is_index = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
            self.key.push('/');
            self.key.push_str(if is_index { "*" } else { segment });
        }
    }

    /// All of them so far, in the order of first appearance.
    pub fn all(&self) -> &[Finding] {
        &self.found
    }

    /// How many there were beyond those that are listed.
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    pub(crate) fn finish(self) -> (Vec<Finding>, u64) {
        (self.found, self.omitted)
    }
}

fn finding(rule: &Rule, level: Level, record: &Record<'_>, place: &Place<'_>, message: String) -> Finding {
    let frame = record.frame;
    let in_data = match (place.pointer, place.at) {
        (Some(pointer), _) => locate::value(record.data(), pointer),
        (None, Some(at)) => Some(at..at + 1),
        (None, None) => None,
    };
    let excerpt = Excerpt::of(frame, in_data.as_ref());
    // Bytes can be told one by one only where they stand as they came.
    let contiguous = frame.bytes.end - frame.bytes.start == frame.source.len() as u64;
    let bytes = in_data.filter(|_| contiguous).and_then(|range| {
        let start = frame.place(range.start)? as u64 + frame.bytes.start;
        let end = (start + (range.end - range.start) as u64).min(frame.bytes.end);
        (start <= end).then_some(start..end)
    });
    Finding {
        rule: rule.id,
        level,
        message,
        frame: record.number,
        event: record.event,
        event_type: record.event_type.as_deref().map(str::to_owned),
        sequence_number: record.sequence_number(),
        time: frame.time,
        line: frame.line + excerpt.lines_down,
        bytes: bytes.unwrap_or_else(|| frame.bytes.clone()),
        pointer: place.pointer.map(str::to_owned),
        expected: place.expected.map(str::to_owned),
        actual: place.actual.map(str::to_owned),
        excerpt,
        count: 1,
    }
}
