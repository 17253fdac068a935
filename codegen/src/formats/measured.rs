//! `measured.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Measured behaviour of clients on broken streams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasuredFile {
    /// Clients with measured or reported failures.
    #[serde(default, rename = "client")]
    pub clients: Vec<Client>,
}

/// A client and the streams on which it fails. A stream has the name of its case: `defect/<name>` for one of
/// `defects.toml`, `fault/<rule>` for the violation of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Its name in rule pages.
    pub name: String,
    /// The dialect that it is written for.
    pub dialect: String,
    /// The measured version; `None` if it is known only from reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The API that was called, if its name does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Streams for which it returns wrong or empty content without an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
    /// Streams for which it should report an error, but does not: a failure, or a missing end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<String>,
    /// Streams on which it fails with an error, with the error; empty if unknown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exception: BTreeMap<String, String>,
}

/// The kind of failure of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// It fails with an error.
    Exception,
    /// It returns wrong or empty content.
    Wrong,
    /// It does not report an error.
    Silent,
}

/// The failure of a client on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The stream.
    pub case: &'a str,
    /// The kind of failure.
    pub failure: Failure,
    /// The error; empty if there is none, or it is unknown.
    pub error: &'a str,
}

impl Client {
    /// Returns all its failures.
    pub fn claims(&self) -> impl Iterator<Item = Claim<'_>> {
        let exceptions =
            self.exception.iter().map(|(case, error)| Claim { case, failure: Failure::Exception, error });
        let wrong = self.wrong.iter().map(|case| Claim { case, failure: Failure::Wrong, error: "" });
        let silent = self.silent.iter().map(|case| Claim { case, failure: Failure::Silent, error: "" });
        exceptions.chain(wrong).chain(silent)
    }
}

impl MeasuredFile {
    /// Returns the clients that fail on a stream, with their failure: errors first, then wrong content.
    pub fn broken(&self, case: &str) -> Vec<(&Client, Claim<'_>)> {
        let all = self.clients.iter().flat_map(|client| client.claims().map(move |claim| (client, claim)));
        let mut broken: Vec<_> = all.filter(|(_, claim)| claim.case == case).collect();
        // The sort is stable: clients stay in the order of the file.
        broken.sort_by_key(|(_, claim)| claim.failure);
        broken
    }
}
