//! The lanes of a WebSocket: on each, one response follows another, and events of several are mixed.

use std::collections::{HashMap, VecDeque};
use std::mem::{replace, take};

use super::case::{Connection, Turn};
use super::stream::Stream;

/// So many lanes are followed. There are at most 32 of them in a good recording.
const MAX_LANES: usize = 256;

/// What is known of the lanes of a connection.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// The lane at hand. One of them has no name.
    name: Option<Box<str>>,
    others: HashMap<Option<Box<str>>, Lane>,
}

/// A lane that is not at hand.
#[derive(Debug)]
struct Lane {
    stream: Stream,
    turn: Option<Turn>,
    unanswered: VecDeque<Turn>,
    latest: Option<String>,
}

impl Default for Lane {
    fn default() -> Self {
        Self { stream: Stream::new(), turn: None, unanswered: VecDeque::new(), latest: None }
    }
}

/// What a rule can know of the lane of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LaneOf {
    /// Its name.
    pub(crate) name: Option<String>,
    /// No request named it, and requests are known.
    pub(crate) is_stranger: bool,
    /// The event has no name, and only responses of named lanes are under way.
    pub(crate) is_nameless: bool,
    /// How many lanes with names have had a response so far, with that of the event.
    pub(crate) named: usize,
    /// How many responses are under way in other lanes.
    pub(crate) others_in_flight: usize,
}

/// A response is under way, or asked for.
fn is_busy(stream: &Stream, unanswered: &VecDeque<Turn>) -> bool {
    is_in_flight(stream) || !unanswered.is_empty()
}

fn is_in_flight(stream: &Stream) -> bool {
    stream.has_begun() && !stream.has_ended()
}

impl Lanes {
    /// Goes to a lane. Nothing happens when there are too many of them.
    pub(super) fn enter(
        &mut self,
        name: Option<&str>,
        stream: &mut Stream,
        connection: &mut Connection,
    ) -> bool {
        if self.name.as_deref() == name {
            return true;
        }
        let name: Option<Box<str>> = name.map(Into::into);
        if self.others.len() >= MAX_LANES && !self.others.contains_key(&name) {
            return false;
        }
        let next = self.others.remove(&name).unwrap_or_default();
        let before = Lane {
            stream: replace(stream, next.stream),
            turn: replace(&mut connection.turn, next.turn),
            unanswered: replace(&mut connection.unanswered, next.unanswered),
            latest: replace(&mut connection.latest, next.latest),
        };
        // What the last event of the connection fed is in another lane.
        stream.forget_recent();
        self.others.insert(replace(&mut self.name, name), before);
        true
    }

    /// The name of the lane at hand.
    pub(super) fn at_hand(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether a lane was used or asked for.
    pub(super) fn knows(&self, name: Option<&str>) -> bool {
        self.name.as_deref() == name || self.others.keys().any(|known| known.as_deref() == name)
    }

    /// Whether anything came in the lane without a name.
    pub(super) fn nameless_was_used(&self, stream: &Stream) -> bool {
        match &self.name {
            None => stream.events > 0,
            Some(_) => self.others.get(&None).is_some_and(|lane| lane.stream.events > 0),
        }
    }

    /// Whether the lane without a name is at rest.
    pub(super) fn nameless_rests(&self, stream: &Stream, connection: &Connection) -> bool {
        match &self.name {
            None => !is_busy(stream, &connection.unanswered),
            Some(_) => self.others.get(&None).is_none_or(|lane| !is_busy(&lane.stream, &lane.unanswered)),
        }
    }

    /// The names of lanes in which a response is under way.
    pub(super) fn in_flight<'l>(&'l self, stream: &'l Stream) -> impl Iterator<Item = &'l Option<Box<str>>> {
        let others = self.others.iter().filter(|(_, lane)| is_in_flight(&lane.stream)).map(|(name, _)| name);
        others.chain(is_in_flight(stream).then_some(&self.name))
    }

    /// How many lanes with names have had a response, with the one at hand. A request that is refused uses none.
    pub(super) fn used(&self) -> usize {
        let is_used = |lane: &Lane| lane.latest.is_some() || lane.stream.has_begun();
        let others = self.others.iter().filter(|(name, lane)| name.is_some() && is_used(lane)).count();
        others + usize::from(self.name.is_some())
    }

    /// How many lanes have names.
    pub(super) fn named(&self) -> usize {
        self.others.keys().chain([&self.name]).filter(|name| name.is_some()).count()
    }

    /// The streams that are not at hand and have begun, one after the other; they are over.
    pub(super) fn drain(&mut self) -> Vec<(Stream, VecDeque<Turn>)> {
        let mut names: Vec<_> = take(&mut self.others).into_iter().collect();
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        names.into_iter().map(|(_, lane)| (lane.stream, lane.unanswered)).collect()
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.name = None;
        self.others.clear();
    }
}
