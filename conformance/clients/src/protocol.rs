//! The protocol between the suite and a client: one JSON object a line in each direction.

use std::collections::BTreeMap;

use checker::Tokens;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The version of the protocol. It increases when a member is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// The exit code of a client that does not support a case.
pub const UNSUPPORTED: i32 = 89;

/// A case, as sent to the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Asked"))]
pub struct CaseMessage {
    /// Version of the protocol.
    pub protocol: u32,
    /// The name of the case, which the reply repeats.
    pub case: String,
    /// The base URL for the client. It ends with `/v1`.
    pub base_url: String,
    /// The API key to send.
    pub api_key: String,
    /// `sse`, `json` or `websocket`.
    pub transport: String,
    /// The body of the request, without `stream`, which depends on the transport.
    pub request: Value,
    /// Timeout of the client, in milliseconds.
    pub timeout_ms: u64,
    /// Number of events after which the client should disconnect.
    #[serde(default)]
    pub cancel_after_events: Option<u32>,
    /// The dialect of the server.
    pub dialect: String,
    /// The steps after the first response, in order; the reply describes the last response. A client that does not
    /// support them replies `unsupported`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<CaseStep>,
    /// Number of retries that the client itself may make. If absent, the client makes none. A driver that lets its client make
    /// so many repeats the number in its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

/// A step of the client after a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "AskedStep"))]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum CaseStep {
    /// Sends this request, which continues the previous response: with `previous_response_id`, or with the whole
    /// conversation. On a WebSocket, the connection stays the same.
    Continue {
        /// The body of the request, without `previous_response_id`.
        request: Value,
    },
    /// Sends the output of each call of the previous response, with `previous_response_id` or the whole conversation.
    AnswerCalls {
        /// The outputs, by function name.
        outputs: BTreeMap<String, String>,
    },
    /// Resumes a broken stream with `GET /responses/{id}?stream=true&starting_after=N`.
    Resume,
}

/// The reply of a client to a case. Absent members are not checked; a case that tests one of them is not exercised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reply {
    /// The name of the case.
    #[serde(default)]
    pub case: String,
    /// Whether the client returned a response, reported an error, or does not support the case.
    pub status: Status,
    /// The text of the response.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<String>>,
    /// The streamed text, if the client passes on deltas, too.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub streamed: Option<Option<String>>,
    /// The refusal.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Option<String>>,
    /// The summary or text of reasoning.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Option<String>>,
    /// The calls of functions and custom tools, in order.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub calls: Option<Option<Vec<ReplyCall>>>,
    /// The status of the response.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub response_status: Option<Option<String>>,
    /// Its id.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub response_id: Option<Option<String>>,
    /// Its token usage.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<ReplyUsage>>,
    /// The error that the client reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReplyError>,
    /// `max_retries` of the case, if the client could make so many. A case about retries is not exercised without it, unless
    /// the client was seen to retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// The version of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
}

impl Reply {
    /// Returns the reply with an empty value for each part that it lacks, and that the reply to the intact stream has: the
    /// client reads the part, and lost it.
    #[must_use]
    pub fn with_losses(&self, intact: &Self) -> Self {
        let mut whole = self.clone();
        lose(&mut whole.text, intact.text.as_ref());
        lose(&mut whole.streamed, intact.streamed.as_ref());
        lose(&mut whole.refusal, intact.refusal.as_ref());
        lose(&mut whole.reasoning, intact.reasoning.as_ref());
        lose(&mut whole.calls, intact.calls.as_ref());
        lose(&mut whole.response_status, intact.response_status.as_ref());
        lose(&mut whole.response_id, intact.response_id.as_ref());
        lose(&mut whole.usage, intact.usage.as_ref());
        if intact.calls.iter().flatten().flatten().any(|call| call.call_id.is_some()) {
            for call in whole.calls.iter_mut().flatten().flatten() {
                call.call_id.get_or_insert_default();
            }
        }
        whole
    }
}

#[expect(clippy::option_option, reason = "an absent member is not checked, a null one is")]
fn lose<T>(part: &mut Option<Option<T>>, intact: Option<&Option<T>>) {
    if matches!(intact, Some(Some(_))) {
        part.get_or_insert(None);
    }
}

/// The status of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The client returned a response.
    #[default]
    Ok,
    /// The client reported an error to its caller.
    Error,
    /// The client does not support the case.
    Unsupported,
}

/// A call in a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReplyCall {
    /// Its id.
    #[serde(default)]
    pub call_id: Option<String>,
    /// The name of the function.
    pub name: String,
    /// The arguments as JSON or JSON text, or the input of a custom tool.
    pub arguments: Value,
}

/// The token usage of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReplyUsage {
    /// Input tokens.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
}

impl From<Tokens> for ReplyUsage {
    fn from(tokens: Tokens) -> Self {
        Self { input_tokens: tokens.input, output_tokens: tokens.output }
    }
}

/// An error that a client reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReplyError {
    /// Its type.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Its message.
    #[serde(default)]
    pub message: Option<String>,
    /// Its code.
    #[serde(default)]
    pub code: Option<Value>,
}

/// Distinguishes null from an absent member.
#[expect(clippy::option_option, reason = "an absent member is not checked, a null one is")]
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(value).map(Some)
}
