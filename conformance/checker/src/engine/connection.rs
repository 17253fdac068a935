//! The connection of a stream: its head, and the requests on a WebSocket.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::asides::Asides;
use super::markup::RequestTokens;
use super::view::Object;

/// The connection of a stream.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Connection {
    /// Status of the response.
    pub(crate) status: Option<u16>,
    /// Whether its headers are known. Some recorders keep none.
    pub(crate) has_headers: bool,
    /// Its content type.
    pub(crate) content_type: Option<String>,
    /// Whether the request created a new response, if that is known.
    pub(crate) creates: Option<bool>,
    /// Whether the input of the request triggers a compaction.
    pub(crate) triggers_compaction: bool,
    /// The tokens in the request, if that is known.
    pub(crate) tokens: Option<RequestTokens>,
    /// Time of the first message on a WebSocket, in either direction.
    pub(crate) began: Option<Duration>,
    /// Requests without a response on a WebSocket, in the current lane.
    pub(crate) unanswered: VecDeque<Turn>,
    /// The request of the current response.
    pub(crate) turn: Option<Turn>,
    /// Ids of all responses on a WebSocket.
    pub(crate) begun: HashSet<String>,
    /// Ids of those that can be continued.
    pub(crate) responses: HashSet<String>,
    /// Id of the latest of them in the current lane.
    pub(crate) latest: Option<String>,
    /// Lane of the event at hand.
    pub(crate) lane: LaneOf,
    /// Whether requests are known.
    pub(crate) has_requests: bool,
    /// Whether the response that begins was not requested.
    pub(crate) is_unasked: bool,
    /// Whether responses have overlapped: from then on, it is unknown which request belongs to which response.
    pub(crate) has_overlapped: bool,
    /// Client messages about responses in flight.
    pub(crate) asides: Asides,
}

/// Returns whether the input of a request triggers a compaction.
pub(super) fn triggers_compaction(request: &Object<'_>) -> bool {
    let is_trigger = |item: &&str| Object::new(item).plain("type") == Some("compaction_trigger");
    request.get("input").is_some_and(|input| input.contains("compaction_trigger"))
        && request.entries("input").unwrap_or_default().iter().any(is_trigger)
}

/// A request on a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Turn {
    /// The response that it continues.
    pub(crate) previous_response_id: Option<String>,
    /// Whether its input triggers a compaction.
    pub(crate) triggers_compaction: bool,
    /// The tokens in it.
    pub(crate) tokens: RequestTokens,
    /// Whether it has `store: false`.
    pub(crate) is_unstored: bool,
    /// When it was sent.
    pub(crate) sent: Option<Duration>,
}

/// The lane of an event, for rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LaneOf {
    /// Its name.
    pub(crate) name: Option<String>,
    /// Whether requests are known and none names this lane.
    pub(crate) is_stranger: bool,
    /// Whether the event names no lane while only named lanes have responses in flight.
    pub(crate) is_nameless: bool,
    /// Number of named lanes with a response so far, including this one.
    pub(crate) named: usize,
    /// Number of responses in flight in other lanes.
    pub(crate) others_in_flight: usize,
}
