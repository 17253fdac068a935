//! How much of an answer has arrived.

use spec::Api;
use translation::{Delta, PartKind, ReplyReader};

/// The type of an item that asks for a compaction, and of the one that answers it.
pub(crate) const TRIGGER: &str = "compaction_trigger";
pub(crate) const COMPACTION: &str = "compaction";

/// Kinds of content that an answer sends in pieces.
pub(crate) const LANES: [&str; 3] = ["text", "reasoning", "arguments"];

/// Number of bytes that an answer has said, of each of [`LANES`].
pub(crate) type Said = [usize; LANES.len()];

pub(crate) struct ContentCounter {
    reader: ReplyReader,
    /// The lane of each part.
    lanes: Vec<usize>,
    said: Said,
}

impl ContentCounter {
    pub(crate) fn new(api: &'static Api) -> Self {
        Self { reader: ReplyReader::new(api), lanes: Vec::new(), said: Said::default() }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Said {
        for delta in self.reader.push(bytes) {
            match delta {
                Delta::Opened { kind, .. } => self.lanes.push(match kind {
                    PartKind::Text | PartKind::Refusal | PartKind::Item { .. } => 0,
                    PartKind::Reasoning { .. } => 1,
                    PartKind::Call { .. } => 2,
                }),
                Delta::Text { part, text } => {
                    if let Some(count) = self.lanes.get(part).and_then(|lane| self.said.get_mut(*lane)) {
                        *count += text.len();
                    }
                }
                _ => {}
            }
        }
        self.said
    }
}
