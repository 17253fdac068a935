//! Where an event stands in a stream and in its recording.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use spec::Count;

use super::excerpt::Excerpt;
use super::kept::{Kept, Room};
use super::record::Record;

/// Where an event stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spot {
    /// Which frame of the stream it is, counted from 1.
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
    /// The line, cut around the place.
    pub excerpt: Excerpt,
}

impl Spot {
    /// The event itself, or a piece of its data.
    pub(crate) fn of(record: &Record<'_>, in_data: Option<&Range<usize>>) -> Self {
        let frame = record.frame;
        let excerpt = Excerpt::of(frame, in_data);
        // Bytes can be told one by one only where they stand as they came.
        let contiguous = frame.bytes.end - frame.bytes.start == frame.source.len() as u64;
        let bytes = in_data.filter(|_| contiguous).and_then(|range| {
            let start = frame.place(range.start)? as u64 + frame.bytes.start;
            let end = (start + (range.end - range.start) as u64).min(frame.bytes.end);
            (start <= end).then_some(start..end)
        });
        Self {
            frame: record.number,
            event: record.event,
            event_type: record.event_type.as_deref().map(str::to_owned),
            sequence_number: whole_number(record),
            time: frame.time,
            line: frame.line + if frame.is_on_one_line { 0 } else { excerpt.lines_down },
            bytes: bytes.unwrap_or_else(|| frame.bytes.clone()),
            excerpt,
        }
    }
}

/// The sequence number, where the formats of reports have room for it.
fn whole_number(record: &Record<'_>) -> Option<u64> {
    record.sequence_number.as_ref().and_then(Count::whole)
}

/// What is kept of an event in case a later one has to do with it: no more than is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mark {
    frame: u64,
    event: u64,
    event_type: Cow<'static, str>,
    sequence_number: Option<u64>,
    time: Option<Duration>,
    line: u64,
    is_on_one_line: bool,
    bytes: Range<u64>,
    /// Where its data begin in the frame.
    data: usize,
    /// How the frame begins.
    head: Vec<u8>,
}

/// So much is kept of a frame.
const HEAD: usize = 200;

impl Kept<Mark> {
    pub(super) fn note(&mut self, record: &Record<'_>) {
        self.fill().renew(record);
    }
}

impl Room for Mark {
    // It is never large.
    fn vacate(&mut self) {}
}

impl Mark {
    /// Takes the place of what was kept, without allocating anew.
    pub(super) fn renew(&mut self, record: &Record<'_>) {
        let frame = record.frame;
        self.frame = record.number;
        self.event = record.event;
        self.event_type = record.kept_type();
        self.sequence_number = whole_number(record);
        self.time = frame.time;
        self.bytes = frame.bytes.clone();
        self.line = frame.line;
        self.is_on_one_line = frame.is_on_one_line;
        self.data = frame.place(0).unwrap_or(0);
        self.head.clear();
        self.head.extend_from_slice(&frame.source[..frame.source.len().min(HEAD)]);
    }

    /// The type of the event.
    pub(crate) fn event_type(&self) -> &str {
        &self.event_type
    }

    pub(crate) fn spot(&self) -> Spot {
        let name = Some(self.event_type.to_string()).filter(|name| !name.is_empty());
        let data = self.data.min(self.head.len());
        let line_start = memchr::memrchr2(b'\n', b'\r', &self.head[..data]).map_or(0, |end| end + 1);
        let (before, line) = self.head.split_at(line_start);
        Spot {
            frame: self.frame,
            event: self.event,
            event_type: name,
            sequence_number: self.sequence_number,
            time: self.time,
            line: self.line + if self.is_on_one_line { 0 } else { super::excerpt::line_ends(before) },
            bytes: self.bytes.clone(),
            excerpt: Excerpt::head(line),
        }
    }
}
