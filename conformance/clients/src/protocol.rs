//! What the suite and a client say to each other: one JSON object a line in each direction.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The version of the protocol. It rises when a member goes away or changes its meaning.
pub const VERSION: u32 = 1;

/// The exit code of a client that does not support a case.
pub const UNSUPPORTED: i32 = 89;

/// A case, as the client gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Asked {
    /// Version of the protocol.
    pub protocol: u32,
    /// The name of the case, to be repeated in the reply.
    pub case: String,
    /// What to give the client as its base URL. It ends with `/v1`.
    pub base_url: String,
    /// The API key to send.
    pub api_key: String,
    /// `sse`, `json` or `websocket`.
    pub transport: String,
    /// The body of the request, without `stream`: that follows from the transport.
    pub request: Value,
    /// Milliseconds after which the client should give up.
    pub timeout_ms: u64,
    /// The client should leave the stream after this many events.
    #[serde(default)]
    pub cancel_after_events: Option<u32>,
    /// The dialect that the server speaks.
    pub dialect: String,
    /// What the client does after the first answer, in order; the reply is about the last answer. A client that
    /// cannot do this replies `unsupported`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<AskedStep>,
}

/// What a client does after an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum AskedStep {
    /// It sends this request, which continues the response before: with `previous_response_id`, or with the whole
    /// conversation. On a WebSocket it does so on the same connection.
    Continue {
        /// The body of the request, without `previous_response_id`.
        request: Value,
    },
    /// It sends the output of each call of the response before, with `previous_response_id` or the whole conversation.
    AnswerCalls {
        /// The outputs, by the names of the functions.
        outputs: BTreeMap<String, String>,
    },
    /// The connection will be lost. It gets the rest with `GET /responses/{id}?stream=true&starting_after=N`.
    Resume,
}

/// What a client made of a case. Members that are left out are not judged; a case that is about one of them is not
/// exercised then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reply {
    /// The name of the case.
    #[serde(default)]
    pub case: String,
    /// Whether the client returned an answer, reported an error, or cannot do this.
    pub status: Status,
    /// The text of the answer.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<String>>,
    /// The text as it was streamed, where the client hands on deltas beside the answer.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub streamed: Option<Option<String>>,
    /// The refusal.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Option<String>>,
    /// The summary or the text of reasoning.
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
    /// The tokens that it cost.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<ReplyUsage>>,
    /// The error that the client reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReplyError>,
    /// The version of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
}

/// How a case ended for a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It returned an answer.
    #[default]
    Ok,
    /// It reported an error to its caller.
    Error,
    /// It cannot do this.
    Unsupported,
}

/// A call, as a client understood it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReplyCall {
    /// Its id.
    #[serde(default)]
    pub call_id: Option<String>,
    /// The name of the function.
    pub name: String,
    /// The arguments: as JSON, as the text of JSON, or the input of a custom tool.
    pub arguments: Value,
}

/// The tokens that a response cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReplyUsage {
    /// Those of the input.
    pub input_tokens: Option<u64>,
    /// Those of the output.
    pub output_tokens: Option<u64>,
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

/// A member that was given, be it null.
#[expect(clippy::option_option, reason = "what is left out is not judged, and what is null is")]
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(value).map(Some)
}
