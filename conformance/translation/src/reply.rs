//! Replies: what a response says.

use serde::{Deserialize, Serialize};

use super::question::Part;

/// The content of a response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// Its id.
    pub id: Option<String>,
    /// The model that it names.
    pub model: Option<String>,
    /// Its content, in order: texts, refusals, reasoning and calls.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub stop: Option<Stop>,
    /// Why it ended, in the word of its API.
    pub word: Option<String>,
    /// The text before which it stopped.
    pub stopped_before: Option<String>,
    /// Its token counts.
    pub usage: Option<Usage>,
    /// The error that it reports, in a stream or as its body.
    pub error: Option<ReplyError>,
    /// Whether it came to an end that its API has: a terminal event, a marker, or a whole body.
    pub is_ended: bool,
}

/// Why a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The model had said all.
    Ended,
    /// It stopped before a text of the request.
    Sequence,
    /// The client is to run tools.
    Calls,
    /// A limit of tokens was reached.
    Cut,
    /// A filter intervened.
    Filtered,
    /// The model refused.
    Refused,
    /// The turn is paused.
    Paused,
    /// The response failed.
    Failed,
}

/// The token counts of a response. Those of the input include what was read from a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the input.
    pub input: Option<u64>,
    /// Those of the input that were read from a cache.
    pub cached: Option<u64>,
    /// Tokens of the output.
    pub output: Option<u64>,
    /// Those of the output that are reasoning.
    pub reasoning: Option<u64>,
}

/// An error that a response reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyError {
    /// Its type or code, in the words of its API.
    pub class: String,
    /// Its message.
    pub message: String,
}
