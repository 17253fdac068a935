//! The lanes of a session: on each, one response follows another, and events of several are mixed.

use super::turn::Turns;
use crate::engine::stream::Stream;

/// Maximum number of tracked lanes beside the current one. A correct recording has at most 32.
const MAX_OTHERS: usize = 256;

#[derive(Debug)]
pub(crate) struct Lane {
    /// Its name. One lane has none.
    pub(super) name: Option<Box<str>>,
    pub(crate) stream: Stream,
    pub(crate) turns: Turns,
}

impl Lane {
    fn new(name: Option<&str>, stream: Stream) -> Self {
        Self { name: name.map(Into::into), stream, turns: Turns::default() }
    }

    fn is_busy(&self) -> bool {
        self.is_in_flight() || !self.turns.unanswered.is_empty()
    }

    fn is_in_flight(&self) -> bool {
        self.stream.has_begun() && !self.stream.has_ended()
    }

    /// A rejected request uses none.
    fn was_used(&self) -> bool {
        self.turns.latest.is_some() || self.stream.has_begun()
    }
}

#[derive(Debug)]
pub(in crate::engine) struct Lanes {
    pub(super) current: Lane,
    others: Vec<Lane>,
}

impl Lanes {
    pub(super) fn new(stream: Stream) -> Self {
        Self { current: Lane::new(None, stream), others: Vec::new() }
    }

    fn all(&self) -> impl Iterator<Item = &Lane> {
        self.others.iter().chain([&self.current])
    }

    fn of_name(&self, name: Option<&str>) -> Option<&Lane> {
        self.all().find(|lane| lane.name.as_deref() == name)
    }

    pub(super) fn enter(&mut self, name: Option<&str>) -> bool {
        if self.current.name.as_deref() == name {
            return true;
        }
        let Self { current, others } = self;
        match others.iter().position(|lane| lane.name.as_deref() == name) {
            Some(at) => std::mem::swap(&mut others[at], current),
            None if others.len() >= MAX_OTHERS => return false,
            None => {
                let next = Lane::new(name, Stream::new(current.stream.api));
                others.push(std::mem::replace(current, next));
            }
        }
        // The node of the session's last delta is in another lane.
        self.current.stream.recent.forget();
        true
    }

    pub(super) fn knows(&self, name: Option<&str>) -> bool {
        self.of_name(name).is_some()
    }

    /// Only the unnamed lane counts.
    pub(super) fn nameless_was_used(&self) -> bool {
        self.of_name(None).is_some_and(|lane| lane.stream.events > 0)
    }

    pub(super) fn nameless_rests(&self) -> bool {
        self.of_name(None).is_none_or(|lane| !lane.is_busy())
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = Option<&str>> {
        self.all().filter(|lane| lane.is_in_flight()).map(|lane| lane.name.as_deref())
    }

    /// The current lane counts, too.
    pub(super) fn used(&self) -> usize {
        let others = self.others.iter().filter(|lane| lane.name.is_some() && lane.was_used()).count();
        others + usize::from(self.current.name.is_some())
    }

    pub(super) fn named(&self) -> usize {
        self.all().filter(|lane| lane.name.is_some()).count()
    }

    /// Enters the first of the other lanes. Returns false if there is none.
    pub(in crate::engine) fn leave(&mut self) -> bool {
        let first = self.others.iter().enumerate().min_by_key(|(_, lane)| lane.name.as_deref());
        let Some(first) = first.map(|(at, _)| at) else { return false };
        self.current = self.others.swap_remove(first);
        true
    }
}
