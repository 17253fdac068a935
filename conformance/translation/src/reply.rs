//! Replies: what a response says.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spec::Dialect;

use super::question::Part;
use super::replies::{ReplyReader, error};

/// What a response says.
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

impl Reply {
    /// Reads a response. What cannot be read is left out.
    pub fn read(dialect: &Dialect, content_type: Option<&str>, status: u16, bytes: &[u8]) -> Self {
        let kind = content_type.unwrap_or_default().trim_start();
        let is_stream = kind.get(..STREAM.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(STREAM));
        // Some gateways stream under another content type, or have a body under this one.
        let first = bytes.trim_ascii_start().first();
        if status < 400 && first != Some(&b'{')
            || is_stream && first.is_some_and(|first| b":ed".contains(first))
        {
            Self::of_stream(dialect, bytes)
        } else {
            Self::of_body(dialect, status, bytes)
        }
    }

    /// Reads a stream of server-sent events. What cannot be read is left out.
    pub fn of_stream(dialect: &Dialect, bytes: &[u8]) -> Self {
        let mut reader = ReplyReader::new(dialect.api);
        let mut deltas = reader.push(bytes);
        deltas.extend(reader.finish());
        deltas.into_iter().collect()
    }

    /// Reads a body. What cannot be read is left out.
    pub fn of_body(dialect: &Dialect, status: u16, bytes: &[u8]) -> Self {
        let Ok(body) = serde_json::from_slice::<Value>(bytes) else {
            let message = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
            let error = (status >= 400).then(|| ReplyError { class: String::new(), message });
            return Self { error, ..Self::default() };
        };
        // A response that failed is one, with the error as a member.
        let is_response =
            dialect.api.body(&body.to_string()).is_some_and(|it| Some(it.root) == dialect.api.root_body());
        let has_error = body.get("error").is_some_and(|error| !error.is_null());
        if !body.is_object() && status < 400 {
            return Self::default();
        }
        if status >= 400 || has_error && !is_response {
            return Self { error: Some(error(&body)), is_ended: body.is_object(), ..Self::default() };
        }
        ReplyReader::new(dialect.api).body(&body).into_iter().collect()
    }
}

/// The content type of a stream.
const STREAM: &str = "text/event-stream";

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
