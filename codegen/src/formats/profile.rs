//! `profiles/<name>.toml` and `client-profiles/<name>.toml`

use serde::{Deserialize, Serialize};

use super::client_case::Channel;

/// What a certificate of one kind demands. Each version of it is frozen in `frozen.toml`: what demands
/// something else has the next version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// What a certificate of this kind says, in a line.
    pub title: String,
    /// Whom it is for.
    pub summary: String,
    /// Its version, from 1.
    pub version: u32,
    /// The dialects, each of one version, that it is about.
    pub specifications: Vec<String>,
    /// The rules that must hold, each in the dialects where it is a MUST.
    pub rules: Vec<String>,
    /// The scenarios that must be run. Of names with `|` between them, one at least must bring what it is
    /// there for, and none may fail.
    pub scenarios: Vec<String>,
}

/// What a certificate of one kind demands of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientProfileFile {
    /// What a certificate of this kind says, in a line.
    pub title: String,
    /// Whom it is for.
    pub summary: String,
    /// Its version, from 1.
    pub version: u32,
    /// The dialects, each of one version, that it is about.
    pub specifications: Vec<String>,
    /// How the cases are sent.
    pub transports: Vec<Channel>,
    /// The cases that a client must handle, over each of these transports that they have.
    pub cases: Vec<String>,
}
