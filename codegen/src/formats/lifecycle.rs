//! `x-lifecycle` in event files, and `api.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::constant::words;

/// The levels of a stream, and the values that parsing an event extracts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScopesFile {
    /// The values that parsing an event extracts: name to JSON pointer of one segment.
    pub slots: BTreeMap<String, String>,
    /// The two outer levels.
    pub outer: Outer,
    /// The scopes, by name.
    #[serde(rename = "scope")]
    pub scopes: BTreeMap<String, Scope>,
}

/// The two outer levels: the root, and its main container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outer {
    /// The scope without a parent.
    pub root: String,
    /// The slot of the value of the root.
    pub snapshot: String,
    /// The child of the root that contains most other scopes. Its key is one index.
    pub container: String,
    /// The slot with the id of a container, in events of its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A level of a stream that opens, receives values and closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Its description, in a sentence.
    pub description: String,
    /// The parent scope; only the root has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The slots that identify one among its siblings, the outermost first.
    #[serde(default)]
    pub key: Vec<String>,
    /// The `type`s of the parent that can contain it; any if empty.
    #[serde(default)]
    pub of: Vec<String>,
    /// Place of its final value in the value that closes its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_parent: Option<String>,
    /// Place of its final value in the terminal response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_response: Option<String>,
    /// Its phases, in order; the last ones can be alternatives.
    #[serde(default)]
    pub phases: Vec<String>,
    /// The phases that end it.
    #[serde(default)]
    pub ends: Vec<String>,
}

/// The lifecycle of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// Its scope.
    pub scope: String,
    /// Its role in the scope.
    pub role: Role,
    /// Place of its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// For the role `phase`, the phase that it begins; for the role `terminal`, the phase in which its scope ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// For the role `point`, whether it may precede the event that opens the response.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
}

words! {
    /// The role of an event in its scope.
    pub enum Role {
        /// Opens the scope.
        Open,
        /// Appends a delta to the value.
        Delta,
        /// States the final value.
        Final,
        /// Closes the scope.
        Close,
        /// Begins a phase.
        Phase,
        /// Ends the response.
        Terminal,
        /// Occurs in the scope without changing it.
        Point,
    }
}
