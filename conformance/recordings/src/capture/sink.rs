//! Receivers of entries.

use std::mem;

use checker::{Entry, Frame, sse};

/// Receives the entries of a recording, except the frames of bare streams of server-sent events, which it receives as
/// such.
pub(crate) trait Sink: sse::Sink {
    fn entry(&mut self, entry: Entry<'_>);
}

/// Receives all entries by value.
pub(crate) struct ByValue<'s, F>(pub(crate) &'s mut F);

impl<F: FnMut(Entry<'_>)> Sink for ByValue<'_, F> {
    fn entry(&mut self, entry: Entry<'_>) {
        self.0(entry);
    }
}

impl<F: FnMut(Entry<'_>)> sse::Sink for ByValue<'_, F> {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.0(Entry::Event(mem::take(frame)));
    }
}
