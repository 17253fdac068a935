//! `x-lifecycle` in event files, and `scopes.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::word::words;

/// What contains what in a stream, and what every event reads from the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScopesFile {
    /// The values that are handed out when an event is read: name to JSON pointer of one segment.
    pub slots: BTreeMap<String, String>,
    /// The two outer levels.
    pub outer: Outer,
    /// The scopes, each under its name.
    #[serde(rename = "scope")]
    pub scopes: BTreeMap<String, Scope>,
}

/// The two outer levels: what everything lies in, and what most of it lies in there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outer {
    /// The scope that lies in no other.
    pub root: String,
    /// The slot that holds the value of the root as a whole.
    pub snapshot: String,
    /// The scope in the root that has most others in it. Its key is one index.
    pub container: String,
    /// The slot with the id of a container, in events about what lies in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Something in a stream that opens, is fed and closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// What it is, in a sentence.
    pub description: String,
    /// The scope it lies in; only the root lies in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The slots that tell one from its siblings, the outermost first.
    #[serde(default)]
    pub key: Vec<String>,
    /// The `type`s of the parent that may hold it; any, when empty.
    #[serde(default)]
    pub of: Vec<String>,
    /// Where its final value stands in the value that closes its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_parent: Option<String>,
    /// Where its final value stands in the terminal response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_response: Option<String>,
    /// The phases it goes through, in order; the last ones may be alternatives.
    #[serde(default)]
    pub phases: Vec<String>,
    /// The phases of which exactly one ends it.
    #[serde(default)]
    pub ends: Vec<String>,
}

/// The place of an event in the lifecycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// The scope it happens in.
    pub scope: String,
    /// What it does there.
    pub role: Role,
    /// Where the value that it brings stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The phase that it begins, for the role `phase`; the one in which its scope ends, for the role `terminal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Whether it may precede the event that opens the response, for the role `point`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
}

words! {
    /// What an event does in its scope.
    pub enum Role {
        /// Opens it.
        Open,
        /// Adds a fragment to its value.
        Delta,
        /// States its final value.
        Final,
        /// Closes it.
        Close,
        /// Begins a named phase of it.
        Phase,
        /// Ends the response.
        Terminal,
        /// Happens inside it and changes nothing.
        Point,
    }
}
