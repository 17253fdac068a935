//! The session of a WebSocket: responses follow each other in lanes, and the client sends more than one request.
//!
//! It decides which stream an event belongs to. With other transports there is one stream, and no session.

mod asides;
mod connection;
mod lanes;
mod turn;

use std::borrow::Cow;
use std::time::Duration;

use spec::Dialect;
use spec::table::{EventInfo, Reply, Role};

use self::lanes::Lanes;
use super::record::Record;
use super::stream::Stream;
use super::view::Object;
use crate::Frame;

pub(crate) use self::asides::{About, InFlightMessage, Steer};
pub(crate) use self::connection::{Connection, EventLane};
pub(crate) use self::turn::{Turn, Turns};

#[derive(Debug)]
pub(super) struct Session {
    pub(super) lanes: Lanes,
    pub(super) connection: Connection,
}

/// A session as rules see it, from the lane of the event at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionView<'s> {
    /// State that all lanes share.
    pub(crate) connection: &'s Connection,
    pub(crate) turns: &'s Turns,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Placement {
    InStream,
    /// It replies to a client's message about a response in flight.
    Aside(InFlightMessage, Reply),
    Unknown,
}

impl Session {
    pub(super) fn new(stream: Stream) -> Self {
        Self { lanes: Lanes::new(stream), connection: Connection::default() }
    }

    pub(super) fn lane(&self) -> Option<&str> {
        self.lanes.current.name.as_deref()
    }

    pub(super) const fn stream(&self) -> &Stream {
        &self.lanes.current.stream
    }

    pub(super) const fn stream_mut(&mut self) -> &mut Stream {
        &mut self.lanes.current.stream
    }

    pub(super) const fn split(&mut self) -> (&mut Stream, SessionView<'_>) {
        let lane = &mut self.lanes.current;
        (&mut lane.stream, SessionView { connection: &self.connection, turns: &lane.turns })
    }

    pub(super) fn is_due(&self) -> bool {
        !self.lanes.current.turns.unanswered.is_empty()
    }

    pub(super) fn sent(&mut self, dialect: &Dialect, frame: &Frame<'_>) {
        let message = Object::new(frame.data.as_deref().unwrap_or_default());
        self.connection.begin(frame);
        match message.plain("type") {
            Some(kind) if Some(kind) == dialect.framing.create => self.asked(dialect, &message, frame),
            Some(kind) => self.connection.asides.sent(dialect, kind, &message),
            None => {}
        }
    }

    fn asked(&mut self, dialect: &Dialect, message: &Object<'_>, frame: &Frame<'_>) {
        // The request is the message itself, or a member of it.
        let inner = dialect.snapshot_member().and_then(|member| message.value(member)).map(Object::new);
        let request = inner.as_ref().unwrap_or(message);
        let lane = dialect.api.session.filter(|_| dialect.framing.lanes).map(|names| names.lane);
        let name = lane.and_then(|lane| message.string(lane).or_else(|| request.string(lane)));
        if !self.lanes.enter(name.as_deref()) {
            return;
        }
        self.connection.has_requests = true;
        self.lanes.current.turns.unanswered.push_back(Turn::new(request, dialect.api, frame));
    }

    /// An event of a stream can begin the next response.
    pub(super) fn place(&mut self, dialect: &Dialect, record: &Record<'_>) -> Placement {
        let has_lanes = dialect.framing.lanes;
        let name = record.event_type.as_deref().filter(|_| has_lanes);
        let aside = name.and_then(|name| InFlightMessage::of_reply(dialect, name));
        let lane = dialect.api.session.filter(|_| has_lanes).map(|names| names.lane);
        let is_placed = lane.is_none_or(|lane| self.enter_lane(lane, record, aside.is_some()));
        match aside {
            Some((message, reply)) => Placement::Aside(message, reply),
            None if is_placed => {
                self.begin_turn(record);
                Placement::InStream
            }
            None => Placement::Unknown,
        }
    }

    /// False if the lane is unknown.
    fn enter_lane(&mut self, member: &str, record: &Record<'_>, is_aside: bool) -> bool {
        let Self { lanes, connection } = self;
        let name = lane_in(record.data(), member);
        let kind = record.known.map(|(_, info)| info).filter(|_| !is_aside && !record.is_error);
        let is_of_response = kind.is_some_and(|info| !info.level.is_root || info.role != Role::Point);
        let mut in_flight: Vec<_> = lanes.in_flight().map(|name| name.map(str::to_owned)).collect();
        // A recording can begin anywhere: without a request, the first response may be one without a lane.
        let may_begin = kind.is_some_and(EventInfo::is_opening)
            && (!connection.has_requests || lanes.nameless_was_used());
        let is_nameless =
            name.is_none() && is_of_response && !may_begin && !in_flight.is_empty() && lanes.nameless_rests();
        let is_stranger = name.is_some() && connection.has_requests && !lanes.knows(name.as_deref());
        let lane = match in_flight.as_slice() {
            [only] if is_nameless => only.clone(),
            _ => name.as_deref().map(str::to_owned),
        };
        let is_told = (!is_nameless || in_flight.len() == 1) && !(is_aside && name.is_none());
        let entered = !is_told || lanes.enter(lane.as_deref());
        in_flight.retain(|name| *name != lane);
        connection.lane = EventLane {
            is_stranger,
            is_nameless,
            named: lanes.used(),
            others_in_flight: in_flight.len(),
            name: lane,
        };
        is_told && entered
    }

    fn begin_turn(&mut self, record: &Record<'_>) {
        self.connection.begin(record.frame);
        let begins = record.begins();
        let stream = self.stream();
        let overlaps = begins && stream.has_begun() && !stream.has_ended();
        if overlaps || stream.has_ended() {
            self.remember_response();
            let lane = &mut self.lanes.current;
            lane.stream.reset();
            lane.stream.overlaps = overlaps;
            lane.turns.current = None;
        }
        let lane = &mut self.lanes.current;
        let Turns { current, unanswered, latest } = &mut lane.turns;
        let Connection { asides, is_unasked, has_requests, has_overlapped, .. } = &mut self.connection;
        *has_overlapped |= overlaps;
        *is_unasked = false;
        if current.is_some() || !(begins || lane.stream.is_answered_apart(record)) {
            return;
        }
        // Replies to the previous response come first.
        let turned = latest.as_deref().filter(|_| begins);
        if let Some(turned) = turned.filter(|id| asides.turning(id).is_some_and(|steer| !steer.is_pending)) {
            asides.follow(turned);
            return;
        }
        *current = unanswered.pop_front();
        *is_unasked = begins && current.is_none() && *has_requests && !*has_overlapped;
        if let Some(turned) = turned {
            asides.follow(turned);
        }
    }

    pub(super) fn settle(&mut self, record: &Record<'_>, is_apart: bool) {
        if is_apart {
            return self.refuse_turn();
        }
        if record.begins() {
            let id = self.stream().response_id().map(Cow::into_owned);
            self.connection.begun.extend(id);
        }
        if self.stream().has_ended() {
            self.lanes.current.turns.current = None;
            self.remember_response();
        }
    }

    /// An error that answers a turn also ends the response that the turn continues, unless that belongs to another
    /// lane.
    fn refuse_turn(&mut self) {
        let has_lanes = self.lanes.named() > 0;
        let turns = &mut self.lanes.current.turns;
        let continued = turns.current.take().and_then(|turn| turn.previous_response_id);
        if let Some(evicted) = continued
            && (!has_lanes || turns.latest.as_ref() == Some(&evicted))
        {
            self.connection.responses.remove(&evicted);
        }
    }

    fn remember_response(&mut self) {
        let lane = &mut self.lanes.current;
        let Some(id) = lane.stream.response_id() else { return };
        let end = lane.stream.response().and_then(|response| response.end);
        self.connection.asides.end(&id, end);
        self.connection.responses.insert(id.clone().into_owned());
        lane.turns.latest = Some(id.into_owned());
    }
}

impl SessionView<'_> {
    pub(crate) fn is_fresh(&self) -> bool {
        self.turns.current.is_some() || !self.turns.unanswered.is_empty()
    }

    pub(crate) fn age_at_request(&self) -> Option<Duration> {
        self.turns.current.as_ref()?.sent?.checked_sub(self.connection.began?)
    }
}

fn lane_in<'d>(data: &'d str, member: &str) -> Option<Cow<'d, str>> {
    memchr::memmem::find(data.as_bytes(), member.as_bytes())?;
    spec::json::at(data, &format!("/{member}")).and_then(spec::json::string)
}
