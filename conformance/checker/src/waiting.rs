//! What a stream has before its dialect is recognised.

use crate::recognition::{Evidence, is_silent};
use crate::{Exchange, Frame, Recognised};

/// Maximum number of frames that are kept, and of their bytes.
const MAX_FRAMES: usize = 64;
const MAX_BYTES: usize = 64 << 10;

/// The head of an exchange, and the frames that say nothing about its dialect.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) exchange: Option<Exchange<'static>>,
    pub(crate) held: Vec<Held>,
    bytes: usize,
}

/// A frame that is kept.
#[derive(Debug)]
pub(crate) struct Held {
    /// The frame, without its source.
    pub(crate) frame: Frame<'static>,
    pub(crate) source: Vec<u8>,
    /// Whether the client sent it.
    pub(crate) is_sent: bool,
}

impl Waiting {
    /// Returns whether another frame can be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.held.len() < MAX_FRAMES && self.bytes < MAX_BYTES
    }

    /// Returns whether a frame is kept, as it does not show the dialect.
    pub(crate) fn waits(&self, frame: &Frame<'_>) -> bool {
        self.has_room() && frame.source.len() < MAX_BYTES && is_silent(frame)
    }

    pub(crate) fn keep(&mut self, frame: &Frame<'_>, is_sent: bool) {
        self.bytes += frame.source.len();
        self.held.push(Held { frame: frame.to_static(), source: frame.source.to_vec(), is_sent });
    }

    /// Returns the dialect, by all that is kept and the first event or body; without one, by the last frame with data.
    pub(crate) fn recognise(&self, first: Option<&Frame<'_>>, is_body: bool) -> Option<Recognised> {
        let before = self.held.iter().filter(|held| !held.is_sent).map(|held| &held.frame);
        let before: Vec<&Frame<'static>> = before.collect();
        let first = first.or_else(|| before.iter().rev().copied().find(|frame| frame.data.is_some()));
        Evidence { exchange: self.exchange.as_ref(), before: &before, first, is_body }.dialect()
    }
}
