//! How much of an answer was received.

use spec::Api;
use translation::{Delta, PartKind, ReplyReader};

/// The sizes of what an answer has: of its texts, its reasoning, and the arguments of its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    text: usize,
    reasoning: usize,
    arguments: usize,
}

impl Size {
    /// Returns it without what a client lacks of it.
    pub(super) const fn without_missing(self, client: &Self, wanted: &Self) -> Self {
        let Self { text, reasoning, arguments } = self;
        Self {
            text: if client.text < wanted.text { 0 } else { text },
            reasoning: if client.reasoning < wanted.reasoning { 0 } else { reasoning },
            arguments: if client.arguments < wanted.arguments { 0 } else { arguments },
        }
    }

    /// Returns as much of it as another is.
    pub(super) fn at_most(self, other: &Self) -> Self {
        Self {
            text: self.text.min(other.text),
            reasoning: self.reasoning.min(other.reasoning),
            arguments: self.arguments.min(other.arguments),
        }
    }

    /// Returns what is more than anything.
    pub(super) const fn unlimited() -> Self {
        Self { text: usize::MAX, reasoning: usize::MAX, arguments: usize::MAX }
    }

    /// Returns whether it is at least as much as another in each point.
    pub(super) const fn has(&self, other: &Self) -> bool {
        self.text >= other.text && self.reasoning >= other.reasoning && self.arguments >= other.arguments
    }
}

/// Counts the content of a stream while it arrives.
pub(super) struct ContentCounter {
    reader: ReplyReader,
    kinds: Vec<PartKind>,
    size: Size,
}

impl ContentCounter {
    pub(super) fn new(api: &'static Api) -> Self {
        Self { reader: ReplyReader::new(api), kinds: Vec::new(), size: Size::default() }
    }

    /// Reads the next bytes, and returns the sizes so far.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Size {
        for delta in self.reader.push(bytes) {
            match delta {
                Delta::Opened { kind, .. } => self.kinds.push(kind),
                Delta::Text { part, text } => {
                    let size = match self.kinds.get(part) {
                        Some(PartKind::Call { .. }) => &mut self.size.arguments,
                        Some(PartKind::Reasoning { .. }) => &mut self.size.reasoning,
                        _ => &mut self.size.text,
                    };
                    *size += text.len();
                }
                _ => {}
            }
        }
        self.size
    }
}
