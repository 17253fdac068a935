//! The connection of a session: what all lanes share.

use std::collections::HashSet;
use std::time::Duration;

use super::asides::Asides;
use crate::Frame;

#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Time of the first message, in either direction.
    pub(super) began: Option<Duration>,
    /// Ids of all responses.
    pub(crate) begun: HashSet<String>,
    /// Ids of those that can be continued.
    pub(crate) responses: HashSet<String>,
    pub(crate) lane: EventLane,
    pub(crate) has_requests: bool,
    /// Whether the response that begins was not requested.
    pub(crate) is_unasked: bool,
    /// Whether responses have overlapped. From then on, it is unknown to which response a request belongs.
    pub(super) has_overlapped: bool,
    pub(crate) asides: Asides,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EventLane {
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

impl Connection {
    pub(super) fn begin(&mut self, frame: &Frame<'_>) {
        self.began = self.began.or(frame.time);
    }
}
