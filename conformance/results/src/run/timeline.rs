//! Timelines of exchanges.

use serde::{Deserialize, Serialize};

/// The timeline of an exchange: what was opened from when to when, and when events arrived. Its size is
/// bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// The exchange, if the recording has several.
    pub exchange: Option<String>,
    /// The request, if recorded.
    pub request: Option<RequestSummary>,
    /// The status of the response, if recorded.
    pub status: Option<u16>,
    /// The start of a non-streaming response.
    pub body: Option<Piece>,
    /// Number of events.
    pub events: u64,
    /// Milliseconds until the last event; null without times.
    pub duration_ms: Option<u64>,
    /// The times of events.
    pub pace: Pace,
    /// The longest time without events.
    pub silence: Option<Silence>,
    /// The root, and what is in it, in order of appearance; children follow their parents.
    pub bars: Vec<Bar>,
    /// Number of bars that are not listed.
    pub folded: u64,
    /// The events, in order; consecutive deltas of one bar are one row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<EventRow>,
    /// Number of events that are not listed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unlisted: u64,
    /// The first events with findings.
    pub faulty: Vec<FaultyEvent>,
    /// Why the connection was lost.
    pub lost: Option<String>,
}

/// A request, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Asked"))]
pub struct RequestSummary {
    /// The method, such as `POST`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The body.
    pub body: Option<Piece>,
}

/// The start of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Piece {
    /// The start.
    pub text: String,
    /// Number of omitted bytes.
    pub cut: u64,
}

/// Times of events, sampled at a fixed distance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pace {
    /// The distance between events of the list.
    pub every: u64,
    /// Times in milliseconds since the exchange began.
    pub times_ms: Vec<u64>,
}

/// A time without events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Silence {
    /// The event before it.
    pub after: u64,
    /// Duration in milliseconds.
    pub ms: u64,
}

/// A response, a message, an item, a block, a choice, a text or another scope, from its first to its last event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bar {
    /// The name of its scope.
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
    /// Its depth.
    pub depth: u64,
    /// Index of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// Its first event, and its last one.
    pub events: [u64; 2],
    /// Times of these events, in milliseconds since the exchange began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_ms: Option<[u64; 2]>,
    /// Number of its own events.
    pub count: u64,
    /// Number of characters in its deltas.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub characters: u64,
    /// Why it ended, in the words of the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The last token counts of the input and of the output; only the root has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<[u64; 2]>,
    /// Whether it began with its opening event.
    pub opened: bool,
    /// The event that closed it.
    pub closed: Option<u64>,
    /// Its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

/// A phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The event that began it.
    pub event: u64,
}

/// An event, or consecutive deltas of one bar. An event with several effects can have several rows.
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
    /// Index of its bar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<usize>,
    /// Milliseconds from the beginning of the exchange to the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// The start of the joined deltas, or of the final text.
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

/// An event with findings, as received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FaultyEvent {
    /// Its number in the stream, from 1.
    pub event: u64,
    /// Its data.
    pub data: Piece,
}
