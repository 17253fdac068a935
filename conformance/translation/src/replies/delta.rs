//! The part of a reply in one event of a response.

use serde_json::Value;

use crate::{ReplyError, Stop, Usage};

/// The part of a reply in one event of a response. Parts are numbered from 0, in the order of their opening.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// The response begins.
    Started {
        /// Its id.
        id: Option<String>,
        /// The model that it names.
        model: Option<String>,
    },
    /// A part opens. A text, a refusal and reasoning open with their first content.
    Opened {
        /// The number of the part.
        part: usize,
        /// The kind of the part.
        kind: PartKind,
    },
    /// A piece of the text of a part, or of the arguments of a call.
    Text {
        /// The number of the part.
        part: usize,
        /// The piece.
        text: String,
    },
    /// A piece of an item that only its API has.
    Piece {
        /// The number of the part.
        part: usize,
        /// Its kind, where an item has several.
        step: &'static str,
        /// The piece.
        value: Value,
    },
    /// A seal of reasoning, which only the upstream can read. It replaces an earlier one.
    Seal {
        /// The number of the part.
        part: usize,
        /// The signature, or the encrypted content.
        seal: String,
    },
    /// A part is complete. Chat Completions do not always show it.
    Closed {
        /// The number of the part.
        part: usize,
    },
    /// The token counts so far.
    Usage(Usage),
    /// The reason why the response ends. It is complete only with [`Delta::Ended`].
    Stopped(Stopped),
    /// The response reports an error.
    Failed(ReplyError),
    /// An event is no JSON object: its data.
    Garbled(String),
    /// The response came to an end that its API has.
    Ended,
}

/// The kind of a part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum PartKind {
    /// Text.
    Text,
    /// A refusal.
    Refusal,
    /// Reasoning.
    Reasoning {
        /// Its id, if it has one.
        id: Option<String>,
        /// Whether its seal is all of it.
        is_redacted: bool,
    },
    /// A call of a tool.
    Call {
        /// Its id.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// A part as only its API has it.
    Item {
        /// Its kind.
        kind: &'static str,
        /// The values that templates of the API name.
        values: Value,
    },
}

/// Why a response ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stopped {
    /// Its class; none if the word is unknown.
    pub stop: Option<Stop>,
    /// The word of its API.
    pub word: String,
    /// The text before which it stopped.
    pub before: Option<String>,
}
