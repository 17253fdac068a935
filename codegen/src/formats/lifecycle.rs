//! `x-lifecycle` in event files

use serde::{Deserialize, Serialize};

use super::constant::words;

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
