//! Requests to an API and its responses, in `apis/<name>/api.toml`.

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::signature::Mark;

/// The request of an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The method; without it, the request is a message on a WebSocket.
    pub method: Option<String>,
    /// The path behind the path of the API. The segment `{id}` is the id of a response.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The query parameters, with their values; a response without a stream is created without them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// The query parameter for the number of the last event that was received.
    pub after: Option<String>,
    /// The root of dialects that is the type of its body.
    pub request: Option<String>,
    /// The root of dialects that is the type of the response's body.
    pub answer: Option<String>,
    /// The feature that an endpoint without the route lacks.
    pub feature: Option<String>,
}

impl Route {
    /// Returns it in words, behind the path of its API: `GET /responses/{id}`.
    pub fn line(&self, path: &str) -> String {
        let given = self.query.iter().map(|(name, value)| format!("{name}={value}"));
        let query: Vec<String> = given.chain(self.after.iter().map(|name| format!("{name}=N"))).collect();
        let (method, mark) =
            (self.method.as_deref().unwrap_or("WebSocket"), if query.is_empty() { "" } else { "?" });
        format!("{method} {path}{}{mark}{}", self.path, query.join("&"))
    }
}

/// The common part of the requests of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RequestShape {
    /// The headers that carry the API key: name to value, in which `{key}` is the key.
    pub keys: BTreeMap<String, String>,
    /// The other headers of the API, with their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The query parameters whose values are not secret, besides the parameters of routes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// The members that continue a conversation that is not part of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub continues: Vec<String>,
    /// The member that makes the response a compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Trigger>,
    /// The members with tools, which responses repeat.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The member that chooses among tools. Responses repeat it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The member with the conversation: a list of entries, or a text. A body without it is not a request, but what a recorder
    /// keeps instead. Rules about requests read neither it nor the instructions.
    pub input: String,
    /// JSON pointer to the text in an entry of that list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The member with instructions for the model, as a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The member with pairs that mean something to the client only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
    /// The member that asks for a response in the background, and the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// The members that the response does not repeat: it has one of the same name for what was decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<String>,
    /// How a conversation repeats a response. Without it, the items of the response are entries of the conversation, and an
    /// event has the response as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnShape>,
    /// The answer to a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultShape>,
    /// The types of entries of the output, or members of these, that go back unchanged, with the results of calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sealed: Vec<String>,
    /// With them, names of members may have underscores, as in Protocol Buffers, but for names within these members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<String>,
    /// How ids of responses begin.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id_prefix: String,
    /// The tools that the model may call. Without them, rules read no settings of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offers: Option<Offers>,
    /// The member that allows one call at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_call: Option<Switch>,
    /// The member with the texts before which the model stops: one, or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops: Option<String>,
    /// The members that limit the tokens of the output: the first that is there counts, and the suite sends the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// The member with the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How an endpoint lists its models.
    pub models: ModelList,
}

/// How an endpoint lists its models at `GET /models`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ModelList {
    /// The member with the list.
    pub list: String,
    /// The member of an entry with the name.
    pub name: String,
    /// How names begin there, and not in requests.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// The member of an entry that lists what can be asked of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<String>,
    /// The entry of that list for requests of the suite.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
}

impl Default for ModelList {
    fn default() -> Self {
        let [list, name] = ["data", "id"].map(str::to_owned);
        Self { list, name, prefix: String::new(), methods: None, method: String::new() }
    }
}

/// The entry of a conversation that answers a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultShape {
    /// The type of the calls that it answers; any if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The entry, as JSON, in which the texts `{id}`, `{name}` and `{output}` stand for the id of the call, for its name and
    /// for its output. The member of an id that the call does not have is left out.
    pub entry: String,
    /// The entry that has all of these in it, as JSON, in which the text `{results}` stands for them. Without it, each is an
    /// entry of the conversation.
    pub within: Option<String>,
}

/// The entry of a conversation that repeats a response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TurnShape {
    /// The entry, as JSON, in which the text `{items}` stands for the items of the response.
    pub entry: String,
    /// JSON pointer in the first item to an object whose members are added to the entry.
    pub members: Option<String>,
    /// JSON pointer in an item to the list of its content, if each event has some entries of it.
    pub joined: Option<String>,
    /// The scopes whose values are not repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// The encrypted part of an entry of the output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EncryptedShape {
    /// The member. Its value is another one each time.
    pub member: String,
    /// The member with the same in plain text. Requests do not have both.
    pub plain: String,
}

/// The member of a request that chooses among tools. Its word is its text, or its type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The member.
    pub member: String,
    /// The word if the model chooses.
    pub free: String,
    /// The words if it may call no tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
    /// The words if it must call a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// The words if it must call one tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one: Vec<String>,
    /// JSON pointers in the member to the name of that tool; the first that is there counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// JSON pointer in the request to the names of the tools that it may call if it must call one; all if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

/// The tools in a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Offers {
    /// The member with their list.
    pub list: String,
    /// JSON pointer in each entry to the list of its tools, if it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<String>,
    /// JSON pointers in a tool to its name; the first that is there counts.
    pub names: Vec<String>,
}

/// A setting of a request that is on or off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// JSON pointer in the request.
    pub at: String,
    /// The value that is meant.
    pub is: bool,
}

/// An entry of a list in a request, by its type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The member with the list.
    pub list: String,
    /// The type of the entry.
    pub entry: String,
}

/// A body that is a root of dialects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BodyShape {
    /// The root.
    pub root: String,
    /// How it is recognised.
    pub mark: Mark,
    /// JSON pointers to what makes it a body without a type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped_with: Vec<String>,
}

/// The errors of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ErrorShape {
    /// The member of a body that holds the error. An event without it is the error itself.
    pub member: String,
    /// The member of the error that names its class.
    pub class: String,
    /// The members that every error has: texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// The statuses of the classes that are known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub status: BTreeMap<String, u16>,
    /// The codes and classes of errors that are not about a request: from endpoints, and from gateways before them.
    pub codes: ErrorCodes,
}

/// The codes and classes of errors that are not about a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ErrorCodes {
    /// The key is not accepted.
    pub key: Vec<String>,
    /// The account has no credit left.
    pub quota: Vec<String>,
    /// There are too many requests.
    pub rate: Vec<String>,
    /// There is no such model; codes contain these texts.
    pub model: Vec<String>,
}

/// The calls in the output of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CallShape {
    /// The types of containers that are calls. `*` at the beginning or at the end stands for any text.
    pub types: Vec<String>,
    /// The member with the id that the result of a call repeats.
    pub id: String,
}

/// The members of messages on a WebSocket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionShape {
    /// The lane of a message.
    pub lane: String,
    /// The response that a request continues.
    pub previous: String,
    /// The response that a message is about.
    pub target: String,
    /// Whether the response is kept after its connection; it is unless this is false.
    pub store: String,
    /// The input that steers a response, in replies to it.
    pub steer: String,
    /// The status of an error that replies to a message.
    pub status: String,
    /// The root of dialects that is the type of a message.
    pub request: String,
    /// The members of requests over HTTP that messages do not have.
    pub http_only: Vec<String>,
}
