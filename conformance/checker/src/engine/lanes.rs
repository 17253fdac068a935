//! The lanes of a WebSocket: on each, one response follows another, and events of several are mixed.

use std::collections::{HashMap, VecDeque};
use std::mem::{replace, take};

use super::connection::{Connection, Turn};
use super::stream::Stream;

/// Maximum number of tracked lanes. A correct recording has at most 32.
const MAX_LANES: usize = 256;

/// The lanes of a connection.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Name of the current lane. One lane has no name.
    name: Option<Box<str>>,
    others: HashMap<Option<Box<str>>, Lane>,
}

/// A lane other than the current one.
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

/// Returns whether a response is in flight or requested.
fn is_busy(stream: &Stream, unanswered: &VecDeque<Turn>) -> bool {
    is_in_flight(stream) || !unanswered.is_empty()
}

fn is_in_flight(stream: &Stream) -> bool {
    stream.has_begun() && !stream.has_ended()
}

impl Lanes {
    /// Enters a lane, unless there are too many.
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
        // The node of the connection's last delta is in another lane.
        stream.forget_recent();
        self.others.insert(replace(&mut self.name, name), before);
        true
    }

    /// Returns the name of the current lane.
    pub(super) fn at_hand(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns whether a lane was used or requested.
    pub(super) fn knows(&self, name: Option<&str>) -> bool {
        self.name.as_deref() == name || self.others.keys().any(|known| known.as_deref() == name)
    }

    /// Returns whether the unnamed lane has had any event.
    pub(super) fn nameless_was_used(&self, stream: &Stream) -> bool {
        match &self.name {
            None => stream.events > 0,
            Some(_) => self.others.get(&None).is_some_and(|lane| lane.stream.events > 0),
        }
    }

    /// Returns whether the unnamed lane has no response in flight.
    pub(super) fn nameless_rests(&self, stream: &Stream, connection: &Connection) -> bool {
        match &self.name {
            None => !is_busy(stream, &connection.unanswered),
            Some(_) => self.others.get(&None).is_none_or(|lane| !is_busy(&lane.stream, &lane.unanswered)),
        }
    }

    /// Returns the names of lanes with a response in flight.
    pub(super) fn in_flight<'l>(&'l self, stream: &'l Stream) -> impl Iterator<Item = &'l Option<Box<str>>> {
        let others = self.others.iter().filter(|(_, lane)| is_in_flight(&lane.stream)).map(|(name, _)| name);
        others.chain(is_in_flight(stream).then_some(&self.name))
    }

    /// Returns the number of named lanes with a response, including the current one. A rejected request uses none.
    pub(super) fn used(&self) -> usize {
        let is_used = |lane: &Lane| lane.latest.is_some() || lane.stream.has_begun();
        let others = self.others.iter().filter(|(name, lane)| name.is_some() && is_used(lane)).count();
        others + usize::from(self.name.is_some())
    }

    /// Returns the number of named lanes.
    pub(super) fn named(&self) -> usize {
        self.others.keys().chain([&self.name]).filter(|name| name.is_some()).count()
    }

    /// Removes and returns the streams of other lanes that have begun, one after the other.
    pub(super) fn drain(&mut self) -> Vec<(Stream, VecDeque<Turn>)> {
        let mut names: Vec<_> = take(&mut self.others).into_iter().collect();
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        names.into_iter().map(|(_, lane)| (lane.stream, lane.unanswered)).collect()
    }

    /// Removes all lanes.
    pub(super) fn clear(&mut self) {
        self.name = None;
        self.others.clear();
    }
}
