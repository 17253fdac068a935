//! `profiles/<name>.toml`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a certificate of one kind demands. Frozen once it is published: a stricter one has a new name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// What a certificate of this kind says, in a line.
    pub title: String,
    /// Whom it is for.
    pub summary: String,
    /// The dialect, of one version, that it is about.
    pub specification: String,
    /// The rules that must hold.
    pub rules: Vec<String>,
    /// The scenarios that must be run.
    pub scenarios: Vec<String>,
}
