//! `profiles/<name>.toml` and `client-profiles/<name>.toml`

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::client_case::Channel;

/// A profile: the requirements of a certificate. `frozen.txt` freezes each version; changed requirements need a new
/// version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The statement of the certificate, in a line.
    pub title: String,
    /// The intended users.
    pub summary: String,
    /// Its version, from 1.
    pub version: u32,
    /// The dialects, each with a version.
    pub specifications: Vec<String>,
    /// The rules that must pass, each in the dialects where it is a MUST.
    pub rules: Vec<String>,
    /// The scenarios that must run. Of alternatives, separated by `|`, at least one must pass, and none may fail.
    pub scenarios: Vec<String>,
}

/// A profile for clients: the requirements of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientProfile {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The statement of the certificate, in a line.
    pub title: String,
    /// The intended users.
    pub summary: String,
    /// Its version, from 1.
    pub version: u32,
    /// The dialects, each with a version.
    pub specifications: Vec<String>,
    /// The transports of the cases.
    pub transports: Vec<Channel>,
    /// The cases that a client must handle, over each of these transports that they support.
    pub cases: Vec<String>,
}
