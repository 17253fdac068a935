//! `dialects/<name>/dialect.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Operation;
use super::word::words;

/// A dialect: one product's, or one version's, way of streaming responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DialectFile {
    /// The product that speaks it.
    pub product: String,
    /// Where its facts come from.
    pub source: String,
    /// One sentence for the list of dialects.
    pub summary: String,
    /// The dialect whose files it takes over where it has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// The versions of SDK packages that it stands for, by registry (`pypi`, `npm`) and package.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, BTreeMap<String, String>>,
    /// Types that are bodies of their own, such as `request` and `response`.
    #[serde(default)]
    pub roots: BTreeMap<String, String>,
    /// What the API can be asked for beside the creation of a response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    /// How events are framed on the wire.
    #[serde(default)]
    pub framing: Framing,
    /// Where the values every event carries stand, when not in the usual place.
    #[serde(default)]
    pub envelope: Envelope,
    /// How a stream ends.
    #[serde(default)]
    pub terminal: Terminal,
    /// Rules that have another level here.
    #[serde(default, rename = "rule")]
    pub rules: Vec<RuleLevel>,
}

/// How events are framed on the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Framing {
    /// What the `event:` line says.
    pub event_line: EventLine,
    /// The `[DONE]` marker at the end.
    pub done: Marker,
    /// Events that the dialect does not list.
    pub unknown_events: UnknownEvents,
    /// Whether the same events come as messages of a WebSocket, too.
    #[serde(default)]
    pub websocket: bool,
    /// Whether a WebSocket has lanes: events say in `stream_id` which one they are of.
    #[serde(default)]
    pub lanes: bool,
    /// The client's message that requests a response on a WebSocket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    /// The client's message that gives a response in flight another direction, and its replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steer: Option<Aside>,
    /// The client's message that adds input to a response in flight, and its replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject: Option<Aside>,
}

/// A client's message about a response in flight on a WebSocket, and the events that reply to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Aside {
    /// The type of the message.
    pub message: String,
    /// The event that accepts it.
    pub accepted: String,
    /// The event that says that the server waits for more input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// The event that rejects it, or reports that it failed later.
    pub failed: String,
}

impl Aside {
    /// The events that reply to the message.
    pub fn replies(&self) -> impl Iterator<Item = &String> {
        [&self.accepted].into_iter().chain(&self.pending).chain([&self.failed])
    }
}

words! {
    /// What the `event:` line says.
    pub enum EventLine = EqualsType {
        /// It equals `type` in the data.
        EqualsType,
        /// It is always `message`; only `type` tells events apart.
        AlwaysMessage,
        /// It alone tells events apart; the data has no `type`.
        Discriminator,
        /// It tells events apart where the data has no `type`.
        DiscriminatorIfUntyped,
    }

    /// Whether something must, may or must not be there.
    pub enum Marker = Allowed {
        /// It must be there.
        Required,
        /// It must not be there.
        Forbidden,
        /// It may be there.
        Allowed,
    }

    /// What an event that the dialect does not list means.
    pub enum UnknownEvents = Reported {
        /// It must carry its vendor's prefix.
        Prefixed,
        /// Clients should ignore it.
        Ignored,
        /// It is worth a note.
        Reported,
    }
}

/// Where the values every event carries stand: name to JSON pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Envelope(pub BTreeMap<String, String>);

/// How a stream ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    /// One of these events is the last.
    pub events: Vec<String>,
    /// The event that reports an error, inside or outside of a response.
    #[serde(default = "Terminal::usual_error", skip_serializing_if = "Terminal::is_usual_error")]
    pub error: String,
}

impl Default for Terminal {
    fn default() -> Self {
        let events = ["response.completed", "response.incomplete", "response.failed"];
        Self { events: events.map(str::to_owned).to_vec(), error: Self::usual_error() }
    }
}

impl Terminal {
    fn usual_error() -> String {
        "error".to_owned()
    }

    fn is_usual_error(error: &String) -> bool {
        error == "error"
    }
}

/// A rule whose level differs in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleLevel {
    /// The rule, `group/name`.
    pub id: String,
    /// Its level here.
    pub level: Level,
    /// Why.
    pub reason: String,
}

words! {
    /// How binding a rule is.
    pub enum Level {
        /// Not checked.
        Off,
        /// Worth a note.
        May,
        /// A warning.
        Should,
        /// An error.
        Must,
    }
}
