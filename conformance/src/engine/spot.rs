//! Where an event stands in a stream and in its recording.

use std::ops::Range;
use std::time::Duration;

use super::excerpt::Excerpt;
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
            sequence_number: record.sequence_number(),
            time: frame.time,
            line: frame.line + excerpt.lines_down,
            bytes: bytes.unwrap_or_else(|| frame.bytes.clone()),
            excerpt,
        }
    }
}

/// What is kept of the last event, in case the stream ends with it: written anew with every event, so
/// nothing is allocated on the way.
#[derive(Debug, Default)]
pub(super) struct Last {
    spot: Spot,
    event_type: String,
    head: Vec<u8>,
}

/// So much is kept of its line.
const HEAD: usize = 160;

impl Last {
    pub(super) fn renew(&mut self, record: &Record<'_>) {
        let frame = record.frame;
        self.spot.frame = record.number;
        self.spot.event = record.event;
        self.spot.sequence_number = record.sequence_number();
        self.spot.time = frame.time;
        self.spot.bytes = frame.bytes.clone();
        self.event_type.clear();
        self.event_type.push_str(record.event_type.as_deref().unwrap_or_default());
        self.spot.line = frame.line;
        self.head.clear();
        self.head.extend_from_slice(&frame.source[..frame.source.len().min(HEAD)]);
    }

    pub(super) fn spot(&self) -> Spot {
        let name = Some(self.event_type.clone()).filter(|name| !name.is_empty());
        Spot { event_type: name, excerpt: Excerpt::head(&self.head), ..self.spot.clone() }
    }
}
