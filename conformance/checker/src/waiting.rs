//! Frames that wait until the API of their stream is recognised.

use std::cell::Cell;

use spec::Dialect;

use crate::recognition::{Evidence, First, Other, other_than};
use crate::{Exchange, Frame, Recognised, Transport};

const MAX_FRAMES: usize = 64;
const MAX_BYTES: usize = 64 << 10;

/// The head of an exchange, and the frames that do not show its API.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) exchange: Option<Exchange<'static>>,
    pub(crate) held: Vec<Held>,
    bytes: usize,
    /// The dialect whose events are waited for; any if it is to be recognised.
    own: Option<&'static Dialect>,
    /// Number of objects among the frames, also of those that were not kept.
    pub(crate) objects: u64,
    /// The API or format of the first object that shows one.
    pub(crate) other: Option<Other>,
    /// The dialect that the last frame shows, which ends the wait.
    shown: Cell<Option<Recognised>>,
}

#[derive(Debug)]
pub(crate) struct Held {
    /// Without its source.
    pub(crate) frame: Frame<'static>,
    pub(crate) source: Vec<u8>,
    pub(crate) is_sent: bool,
}

impl Waiting {
    pub(crate) fn until(dialect: &'static Dialect) -> Self {
        Self { own: Some(dialect), ..Self::default() }
    }

    fn has_room(&self, frame: &Frame<'_>) -> bool {
        self.held.len() < MAX_FRAMES && self.bytes < MAX_BYTES && frame.source.len() < MAX_BYTES
    }

    /// A frame that does not show the API does not end the wait, nor does a silent one, as others may show more.
    pub(crate) fn waits(&self, frame: &Frame<'_>) -> bool {
        let first = First::of(frame, false);
        first.is_silent() && self.has_room(frame) || !self.is_shown(&first)
    }

    fn is_shown(&self, first: &First<'_>) -> bool {
        if let Some(dialect) = self.own {
            return first.is_event_of(dialect);
        }
        self.shown.set(self.recognise_by(Some(first), false));
        self.shown.get().is_some()
    }

    /// Lines of logs among lines of events are not kept.
    pub(crate) fn keep(&mut self, frame: &Frame<'_>, is_sent: bool) {
        let is_object = !is_sent && !First::of(frame, false).is_silent();
        let other = if is_object { other_than(self.own.map(|dialect| dialect.api), frame) } else { None };
        self.objects += u64::from(is_object);
        self.other = self.other.or(other);
        let is_log = frame.transport == Transport::Unframed && matches!(other, Some(Other::Format(_)));
        if self.has_room(frame) && !is_log {
            self.bytes += frame.source.len();
            self.held.push(Held { frame: frame.to_static(), source: frame.source.to_vec(), is_sent });
        }
    }

    /// Without an event or body, any frame may show the dialect. On a WebSocket, messages of the client show it, too,
    /// unless the server speaks another API.
    pub(crate) fn recognise(&self, first: Option<&Frame<'_>>, is_body: bool) -> Option<Recognised> {
        let shown = self.shown.take().filter(|_| first.is_some() && !is_body);
        shown.or_else(|| self.recognise_by(first.map(|frame| First::of(frame, is_body)).as_ref(), is_body))
    }

    fn recognise_by(&self, first: Option<&First<'_>>, is_body: bool) -> Option<Recognised> {
        let frames = |is_sent: bool| {
            let those = self.held.iter().filter(move |held| held.is_sent == is_sent);
            those.map(|held| &held.frame)
        };
        let before: Vec<&Frame<'static>> = frames(false).collect();
        let by = |first: Option<&First<'_>>| {
            Evidence { exchange: self.exchange.as_ref(), before: &before, first, is_body }.dialect()
        };
        if first.is_some() {
            return by(first);
        }
        let sent = frames(true).filter(|_| self.other.is_none());
        let all = before.iter().rev().copied().chain(sent).filter(|frame| frame.data.is_some());
        all.map(|frame| First::of(frame, is_body)).find_map(|first| by(Some(&first))).or_else(|| by(None))
    }

    /// An event of the dialect may have data that are not JSON.
    pub(crate) fn shows_own(&self) -> bool {
        let is_event = |dialect| {
            let mut received = self.held.iter().filter(|held| !held.is_sent);
            received.any(|held| First::of(&held.frame, false).is_event_of(dialect))
        };
        self.own.is_some_and(is_event)
    }
}
