//! Suggested steps after a run.

use serde::{Deserialize, Serialize};

/// A suggested step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Step {
    /// Its purpose.
    pub why: String,
    /// Its shell command.
    pub command: String,
}

impl Step {
    pub(crate) fn new(why: impl Into<String>, command: String) -> Self {
        Self { why: why.into(), command }
    }
}
