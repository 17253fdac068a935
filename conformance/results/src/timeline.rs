//! How an exchange went, for those who draw it.

use serde::{Deserialize, Serialize};

/// What happened in an exchange of a recording: what was opened in it, from when to when, and how fast
/// events came. Its size is bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// The exchange of the recording, when it holds several.
    pub exchange: Option<String>,
    /// What was asked, where the recording has it.
    pub request: Option<Asked>,
    /// The status of the answer, where the recording has it.
    pub status: Option<u16>,
    /// The beginning of an answer that is no stream.
    pub body: Option<Piece>,
    /// How many events there are.
    pub events: u64,
    /// Milliseconds until the last of them; null where the recording has no times.
    pub duration_ms: Option<u64>,
    /// When events came.
    pub pace: Pace,
    /// The longest time without an event.
    pub silence: Option<Silence>,
    /// What was opened or spoken of, in order of appearance; what lies in another comes after it.
    pub bars: Vec<Bar>,
    /// How much more was opened than is listed.
    pub folded: u64,
    /// The events, in order; deltas of one thing that follow each other are one row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<EventRow>,
    /// How many events there are beyond these rows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// The first of the events that something is wrong with.
    pub faulty: Vec<FaultyEvent>,
    /// Why the connection ended, when it was not as it should.
    pub lost: Option<String>,
}

/// A request, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Asked {
    /// `POST`, for one.
    pub method: String,
    /// Where it went.
    pub url: String,
    /// What was asked.
    pub body: Option<Piece>,
}

/// The beginning of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Piece {
    /// What is kept of it.
    pub text: String,
    /// How many bytes of it are not.
    pub cut: u64,
}

/// When events came: of the first, and then of every so many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pace {
    /// The distance between events of the list.
    pub every: u64,
    /// When they came, in milliseconds since the exchange began.
    pub times_ms: Vec<u64>,
}

/// A time without events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Silence {
    /// The event before it.
    pub after: u64,
    /// How long it was, in milliseconds.
    pub ms: u64,
}

/// Something that lives from one event of a stream to another: a response, an item, a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bar {
    /// Its scope: `response`, `item`, `part`, `text`, ...
    pub scope: String,
    /// The `type` of the value that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its name, if it is a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its index among its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// In how many others it lies.
    pub depth: u64,
    /// The bar that it lies in, by its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// Its first event, and its last one.
    pub events: [u64; 2],
    /// When these came, in milliseconds since the exchange began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_ms: Option<[u64; 2]>,
    /// How many events are about it itself.
    pub count: u64,
    /// Whether it began with the event that opens it.
    pub opened: bool,
    /// The event that closed it.
    pub closed: Option<u64>,
    /// The phases that it went through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

/// A phase that something went through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The event that began it.
    pub event: u64,
}

/// An event, or several deltas of one thing that follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct EventRow {
    /// Number of the first event in the stream, from 1.
    pub event: u64,
    /// Number of events.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
    /// The `type` of the event, if it has one.
    #[serde(rename = "type")]
    pub event_type: Option<String>,
    /// Index of the bar that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<usize>,
    /// Milliseconds from the beginning of the exchange to the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// The beginning of the joined deltas, or of the final text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Piece>,
}

const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(count: &u64) -> bool {
    *count == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An event that something is wrong with, as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FaultyEvent {
    /// Its number in the stream, from 1.
    pub event: u64,
    /// Its data.
    pub data: Piece,
}
