//! Questions: what a request asks for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The content of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    /// The model.
    pub model: String,
    /// The instructions, in order: what is said as system or developer before the conversation.
    pub instructions: Vec<String>,
    /// The conversation. Neighbouring turns have different roles.
    pub turns: Vec<Turn>,
    /// The tools.
    pub tools: Vec<Tool>,
    /// Which tools the reply may call.
    pub choice: Choice,
    /// Whether the reply may call only one tool at a time.
    pub is_one_call: bool,
    /// Maximum number of output tokens.
    pub limit: Option<u64>,
    /// Texts before which the reply stops.
    pub stops: Vec<String>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The probability mass to sample from.
    pub top_p: Option<f64>,
    /// Number of choices, if it is more than one.
    pub choices: Option<u64>,
    /// The effort of reasoning: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    pub effort: Option<String>,
    /// The form of the reply's text.
    pub format: Format,
    /// The user on whose behalf it is asked.
    pub user: Option<String>,
    /// The cache key: requests with equal beginnings share a cache if they share it.
    pub cache_key: Option<String>,
    /// Whether the reply is a stream.
    pub is_stream: bool,
    /// Names of members that have no counterpart here, such as `seed`. Members of others have their name in front:
    /// `tools.web_search`, `content.file`. All APIs use the same names.
    pub others: Vec<String>,
}

/// A turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// The content of the turn, in order.
    pub parts: Vec<Part>,
}

/// Who speaks. The output of a tool is said by the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The user.
    #[default]
    User,
    /// The model.
    Assistant,
    /// System or developer, within the conversation.
    System,
}

/// A part of a turn, or of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A refusal.
    Refusal(String),
    /// An image.
    Image(Image),
    /// Reasoning of the model.
    Reasoning(Reasoning),
    /// A call of a tool.
    Call(Call),
    /// The output of a tool.
    Result(Output),
}

/// An image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Image {
    /// Its address, unless its bytes are here.
    pub url: Option<String>,
    /// Its media type, such as `image/png`, if its bytes are here.
    pub media_type: Option<String>,
    /// Its bytes as base64.
    pub data: Option<String>,
}

/// Reasoning of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reasoning {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its text or summary, if visible.
    pub text: String,
    /// A signature or encrypted content, which only the upstream can read.
    pub seal: Option<String>,
    /// Whether its seal is all of it, as in `redacted_thinking`. The text of other reasoning may be left out, too.
    pub is_redacted: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// Its id, which its output refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as text.
    pub arguments: String,
}

/// The output of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// The id of the call.
    pub id: String,
    /// The output as text.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A tool that the client runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, which is an object.
    pub parameters: Value,
}

/// Which tools a reply may call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Any or none.
    #[default]
    Free,
    /// None.
    None,
    /// At least one.
    Any,
    /// The one of this name.
    One(String),
}

/// The form of a reply's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Any.
    #[default]
    Text,
    /// A JSON object.
    Object,
    /// JSON that matches a schema.
    Schema {
        /// The name of the schema; empty in an API that has none.
        name: String,
        /// The schema.
        schema: Value,
    },
}
