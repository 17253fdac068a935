//! The location of an event in a stream and in its recording.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use spec::Count;

use super::excerpt::Excerpt;
use super::locate::Locator;
use super::record::Record;
use super::reusable::{Recycle, Reusable};
use crate::Frame;

/// The location of an event in its stream and in the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Location {
    /// Number of the frame in the stream, from 1.
    pub frame: u64,
    /// Number of the event in the stream, from 1; 0 in a body that is not a stream.
    pub event: u64,
    /// Type of the event.
    pub event_type: Option<String>,
    /// Its sequence number.
    pub sequence_number: Option<u64>,
    /// Time of arrival, in milliseconds since the start of the exchange.
    pub time_ms: Option<u64>,
    /// Line of the recording, from 1.
    pub line: u64,
    /// Byte range: offsets of the first byte, and of the byte after the last.
    pub bytes: [u64; 2],
    /// The line, cut around the location.
    pub excerpt: Excerpt,
}

impl Location {
    pub(super) fn of(record: &Record<'_>, in_data: Option<&Range<usize>>, locator: &mut Locator) -> Self {
        let frame = record.frame;
        let (excerpt, at) = Excerpt::of(frame, in_data);
        let lines_down = at.map_or(0, |at| locator.lines(record.number, frame.source, at));
        // Byte offsets are exact only for data that was not decoded.
        let length = frame.bytes.end.checked_sub(frame.bytes.start);
        let contiguous = length == Some(frame.source.len() as u64);
        let bytes = in_data.filter(|_| contiguous).and_then(|range| {
            let start = frame.bytes.start.checked_add(frame.place(range.start)? as u64)?;
            let end = start.saturating_add(range.len() as u64).min(frame.bytes.end);
            (start <= end).then_some([start, end])
        });
        Self {
            frame: record.number,
            event: record.event,
            event_type: record.event_type.as_deref().map(str::to_owned),
            sequence_number: whole_number(record),
            time_ms: frame.time.map(milliseconds),
            line: frame.line.saturating_add(if frame.is_on_one_line { 0 } else { lines_down }),
            bytes: bytes.unwrap_or([frame.bytes.start, frame.bytes.end]),
            excerpt,
        }
    }
}

/// Formats of reports limit the number.
fn whole_number(record: &Record<'_>) -> Option<u64> {
    record.sequence_number.as_ref().and_then(Count::whole)
}

/// The location of an event that later findings may refer to, with a short excerpt.
#[derive(Debug, Clone, Default)]
pub(crate) struct SavedLocation {
    frame: u64,
    event: u64,
    pub(super) event_type: Cow<'static, str>,
    sequence_number: Option<u64>,
    time: Option<Duration>,
    line: u64,
    is_on_one_line: bool,
    bytes: Range<u64>,
    /// Offset of its data in the frame.
    data: usize,
    head: Vec<u8>,
}

/// Maximum number of bytes kept of a frame.
const HEAD: usize = 200;

#[derive(Debug)]
pub(crate) struct FrameExtent<'f> {
    pub(crate) source: &'f [u8],
    pub(crate) bytes: Range<u64>,
    pub(crate) line: u64,
    pub(crate) is_on_one_line: bool,
    /// Offset of its data.
    pub(crate) data: usize,
    pub(crate) time: Option<Duration>,
}

impl<'f> FrameExtent<'f> {
    pub(super) fn of(frame: &Frame<'f>) -> Self {
        Self {
            source: frame.source,
            bytes: frame.bytes.clone(),
            line: frame.line,
            is_on_one_line: frame.is_on_one_line,
            data: frame.place(0).unwrap_or(0),
            time: frame.time,
        }
    }
}

impl Reusable<SavedLocation> {
    pub(super) fn note(&mut self, record: &Record<'_>) {
        self.fill().renew(record);
    }
}

impl Recycle for SavedLocation {
    // It is never large.
    fn recycle(&mut self) {}

    fn weight(&self) -> usize {
        self.head.capacity()
    }
}

impl SavedLocation {
    pub(crate) const fn is_of(&self, record: &Record<'_>) -> bool {
        self.frame == record.number
    }

    pub(super) fn renew(&mut self, record: &Record<'_>) {
        let numbers = (record.number, record.event, whole_number(record));
        self.renew_as(record.kept_type(), &FrameExtent::of(record.frame), numbers);
    }

    /// The numbers of the frame and the event, and the sequence number.
    pub(super) fn renew_as(
        &mut self,
        event_type: Cow<'static, str>,
        frame: &FrameExtent<'_>,
        numbers: (u64, u64, Option<u64>),
    ) {
        self.event_type = event_type;
        (self.frame, self.event, self.sequence_number) = numbers;
        self.time = frame.time;
        self.bytes = frame.bytes.clone();
        self.line = frame.line;
        self.is_on_one_line = frame.is_on_one_line;
        self.data = frame.data;
        self.head.clear();
        self.head.extend_from_slice(&frame.source[..frame.source.len().min(HEAD)]);
    }

    pub(crate) fn location(&self) -> Location {
        let name = Some(self.event_type.to_string()).filter(|name| !name.is_empty());
        let data = self.data.min(self.head.len());
        let line_start = memchr::memrchr2(b'\n', b'\r', &self.head[..data]).map_or(0, |end| end + 1);
        let (before, line) = self.head.split_at(line_start);
        let lines_down = if self.is_on_one_line { 0 } else { super::excerpt::line_ends(before) };
        Location {
            frame: self.frame,
            event: self.event,
            event_type: name,
            sequence_number: self.sequence_number,
            time_ms: self.time.map(milliseconds),
            line: self.line.saturating_add(lines_down),
            bytes: [self.bytes.start, self.bytes.end],
            excerpt: Excerpt::head(line),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
