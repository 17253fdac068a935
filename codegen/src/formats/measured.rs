//! `measured.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What clients were seen to do with broken streams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasuredFile {
    /// Clients with measured or reported defects.
    #[serde(default, rename = "client")]
    pub clients: Vec<Client>,
}

/// A client that something is known of. A stream is named as its case is: `defect/<name>` for one of `defects.toml`,
/// `fault/<rule>` for the violation of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// What rule pages call it.
    pub name: String,
    /// The dialect that it is written for: it knows the events, types and fields of that one.
    pub dialect: String,
    /// The version that was measured; `None` if it is known from reports only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How it was called, where its name does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Streams for which it gives a wrong or empty answer without an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
    /// Streams that it passes over where an error would be right: a failure, or an end that never came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<String>,
    /// Streams on which it gives up with an error, with the error; empty, where that was not written down.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exception: BTreeMap<String, String>,
}

/// How a client fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// It gives up with an error.
    Exception,
    /// It gives a wrong or empty answer.
    Wrong,
    /// It passes over a failure.
    Silent,
}

/// What a client was seen to do with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The stream.
    pub case: &'a str,
    /// How the client fails.
    pub failure: Failure,
    /// The error; empty, where there is none, or none is known.
    pub error: &'a str,
}

impl Client {
    /// Returns all that it was seen to fail on.
    pub fn claims(&self) -> impl Iterator<Item = Claim<'_>> {
        let exceptions =
            self.exception.iter().map(|(case, error)| Claim { case, failure: Failure::Exception, error });
        let wrong = self.wrong.iter().map(|case| Claim { case, failure: Failure::Wrong, error: "" });
        let silent = self.silent.iter().map(|case| Claim { case, failure: Failure::Silent, error: "" });
        exceptions.chain(wrong).chain(silent)
    }
}

impl MeasuredFile {
    /// Returns the clients that fail on a stream, each with how it does: errors first, then wrong answers.
    pub fn broken(&self, case: &str) -> Vec<(&Client, Claim<'_>)> {
        let all = self.clients.iter().flat_map(|client| client.claims().map(move |claim| (client, claim)));
        let mut broken: Vec<_> = all.filter(|(_, claim)| claim.case == case).collect();
        // The sort is stable: clients stay in the order of the file.
        broken.sort_by_key(|(_, claim)| claim.failure);
        broken
    }
}
