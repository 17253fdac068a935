//! `dialects/<name>/dialect.toml`

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::constant::words;
use super::{DialectSignature, Fallback, Operation, Render};

/// A dialect: the streams of one product, or of one version of a specification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DialectFile {
    /// The API that it belongs to: a folder of `apis/`. Inherited.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api: String,
    /// The product that uses it.
    pub product: String,
    /// The source of its files.
    pub source: String,
    /// One sentence for the list of dialects.
    pub summary: String,
    /// The dialect from which it inherits files: its name, or the path of its folder, such as `../base`.
    pub extends: Option<String>,
    /// The versions of SDK packages behind it, by registry (`pypi`, `npm`) and package.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, BTreeMap<String, String>>,
    /// How its recordings are recognised. Not inherited.
    #[serde(default, skip_serializing_if = "DialectSignature::is_empty")]
    pub signature: DialectSignature,
    /// The recordings for which it stands if nothing proves another dialect. Not inherited.
    #[serde(default, skip_serializing_if = "Fallback::is_none")]
    pub fallback: Fallback,
    /// Types of whole bodies, such as `request` and `response`.
    #[serde(default)]
    pub roots: BTreeMap<String, String>,
    /// The operations of the API besides the creation of a response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    /// The framing of events.
    #[serde(default)]
    pub framing: Framing,
    /// Places of the values of every event, if not the default ones.
    #[serde(default)]
    pub envelope: Envelope,
    /// The event that reports an error, inside or outside of a response.
    #[serde(default = "usual_error", skip_serializing_if = "is_usual_error")]
    pub error: String,
    /// Rules with another level in this dialect.
    #[serde(default, rename = "rule")]
    pub rules: Vec<RuleLevel>,
    /// The members that the reference gateway leaves out of responses, or adds to them.
    #[serde(default)]
    pub render: Render,
}

/// The framing of events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Framing {
    /// The value of the `event:` field.
    pub event_line: EventLine,
    /// The `[DONE]` marker at the end.
    pub done: Marker,
    /// Comments, which keep a stream alive. Where they are forbidden, an error can be JSON without `data:`.
    pub comments: Marker,
    /// The meaning of events that the dialect does not list.
    pub unknown_events: UnknownEvents,
    /// How the type of an event is found in its data, if not in the member `type`: the first of these that fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeRule>,
    /// Whether the same events are also sent as WebSocket messages.
    pub websocket: bool,
    /// Whether a WebSocket has lanes: `stream_id` is the lane of an event.
    pub lanes: bool,
    /// The client's message that requests a response on a WebSocket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    /// The client's message that steers a response in flight, and its replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steer: Option<Aside>,
    /// The client's message that adds input to a response in flight, and its replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject: Option<Aside>,
}

/// How the type of an event is found in its data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TypeRule {
    /// JSON pointer to a value that the data must have, and that is not null. Without it, any data fits.
    pub has: Option<String>,
    /// The text that the value must be; any value fits without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// The type.
    #[serde(rename = "type")]
    pub name: String,
}

/// A client's message about a response in flight on a WebSocket, and the events that reply to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Aside {
    /// The type of the message.
    pub message: String,
    /// The event that accepts it.
    pub accepted: String,
    /// The event that reports that the server waits for more input.
    pub pending: Option<String>,
    /// The event that rejects it, or reports a later failure.
    pub failed: String,
}

impl Aside {
    /// Returns the events that reply to the message.
    pub fn replies(&self) -> impl Iterator<Item = &String> {
        [&self.accepted].into_iter().chain(&self.pending).chain([&self.failed])
    }
}

words! {
    /// The value of the `event:` field.
    pub enum EventLine = EqualsType {
        /// It equals `type` in the data.
        EqualsType,
        /// It is always `message`; `type` in the data is the type of the event.
        AlwaysMessage,
        /// It is the type of the event; the data has no `type`.
        Discriminator,
        /// It is the type of the event if the data has no `type`.
        DiscriminatorIfUntyped,
        /// There is none, or it is `message`.
        None,
        /// There is none.
        Forbidden,
    }

    /// Whether something is required, allowed or forbidden.
    pub enum Marker = Allowed {
        /// Required.
        Required,
        /// Forbidden.
        Forbidden,
        /// Allowed.
        Allowed,
    }

    /// The meaning of an event that the dialect does not list.
    pub enum UnknownEvents = Reported {
        /// It must have a vendor prefix.
        Prefixed,
        /// Clients should ignore it.
        Ignored,
        /// It is reported as a note.
        Reported,
    }
}

/// Places of the values of every event: name to JSON pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Envelope(pub BTreeMap<String, String>);

fn usual_error() -> String {
    "error".to_owned()
}

fn is_usual_error(error: &String) -> bool {
    *error == usual_error()
}

/// A rule whose level differs in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleLevel {
    /// The rule, `group/name`.
    pub id: String,
    /// Its level in this dialect.
    pub level: Level,
    /// The reason.
    pub reason: String,
}

words! {
    /// The level of a rule.
    pub enum Level {
        /// Not checked.
        Off,
        /// A note.
        May,
        /// A warning.
        Should,
        /// An error.
        Must,
    }
}
