//! The part of a sheet for comparisons.

use std::collections::BTreeSet;

use catalogue::Level;
use results::Outcome;
use serde::Serialize;

use super::Later;

pub(crate) struct Compared<'r> {
    pub(crate) side: Side,
    /// Empty where the dialect may differ.
    pub(crate) dialect: &'r str,
    /// Options in words, by name.
    pub(crate) options: Vec<(&'static str, String)>,
    /// The nouns of a test and of a group; without them, tests are not compared.
    pub(crate) nouns: Option<[&'static str; 2]>,
    /// The states of the checked rules; without them, causes are compared.
    pub(crate) rules: Later<'r, Vec<(&'r str, RuleState)>>,
}

/// One of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Version of the suite.
    pub suite: String,
    /// The endpoint, the client or the gateway, if one was tested.
    pub target: Option<String>,
    /// The requested model.
    pub model: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// Number of recordings of an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captures: Option<u64>,
    /// Number of tests of a client or a gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<u64>,
}

/// The findings of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleState {
    /// The worst level of its findings; off without findings.
    #[serde(with = "results::LevelName")]
    pub worst: Level,
    /// Number of recordings.
    pub captures: u64,
    /// Number of findings.
    pub times: u64,
    /// The groups of tests that show it.
    #[serde(skip)]
    pub(crate) groups: BTreeSet<String>,
}
