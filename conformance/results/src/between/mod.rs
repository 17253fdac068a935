//! The report of a gateway from both ends.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{BetweenMoment, FailOn, LeftOut, LevelChange, Outcome, Shard, Test, TestCause, TestFinding};

mod conclude;
mod declared;
mod next;

pub use declared::Declared;

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const BETWEEN_RUN_VERSION: u32 = 2;

/// The results of a gateway for every case of every pair of APIs.
///
/// It is written as `between.json`, read again from there, and is all that any report knows. Texts in it may come from a
/// hostile gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenRun {
    /// Version of this format.
    pub between_run: u32,
    /// Version of the suite.
    pub suite: String,
    /// The name of the gateway.
    pub gateway: String,
    /// Its URL.
    pub url: String,
    /// The command that started it, if the suite did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Whether it is the reference translator.
    #[serde(default)]
    pub is_reference: bool,
    /// The port of the upstream, if the gateway had to know it.
    #[serde(default)]
    pub upstream_port: Option<u16>,
    /// The model that was asked for.
    pub model: String,
    /// The declarations about the gateway.
    #[serde(flatten)]
    pub declared: Declared,
    /// The URL, if it was given beside the command that started the gateway. Without it, the gateway gets a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_url: Option<String>,
    /// The time limit for a response in milliseconds, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// The time limit in milliseconds for what the upstream waits for, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The agents that played sessions instead of the cases.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub profiles: BTreeSet<String>,
    /// The sessions that were replayed instead of the cases: files and folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// The command line as it was typed, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// Whether the run did not end: it was killed, and its tests have no results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unfinished: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// The findings that fail the run.
    pub fail_on: FailOn,
    /// Rules with another level than their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelChange>,
    /// The part of the run, if it was made in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The pairs of APIs.
    pub pairs: Vec<BetweenPair>,
    /// Causes, the worst first.
    pub causes: Vec<TestCause>,
    /// The tests.
    pub tests: Vec<BetweenTest>,
    /// Requests that the upstream received and that no test accounts for, with their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unaccounted: Vec<Unaccounted>,
    /// Expected failures that did not fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// Clients to which responses were to be played, and were not, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_played: Vec<LeftOut>,
    /// Duration of the run in milliseconds.
    pub ms: u64,
    /// The folder that it was written to or read from, if there is one.
    #[serde(skip)]
    pub folder: Option<String>,
}

/// A pair of APIs: the client's, and the upstream's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenPair {
    /// The API of the client.
    pub front: String,
    /// The API of the upstream.
    pub upstream: String,
    /// How the gateway handles it: `passthrough`, `inspect`, `transform` or `local`.
    pub mode: String,
    /// Number of tests that passed.
    pub passed: u64,
    /// Number of tests that failed.
    pub failed: u64,
    /// Number of tests that were not run, or could not be judged.
    pub skipped: u64,
}

/// A test of both ends of a gateway: `FRONT-UPSTREAM/CASE`, followed by `@FAULT` or `@FAULT:PLACE`.
pub type BetweenTest = Test<OfPair>;

/// A case in a pair of APIs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OfPair {
    /// The case.
    pub case: String,
    /// The API of the client.
    pub front: String,
    /// The API of the upstream.
    pub upstream: String,
    /// The outcome of the client's stream.
    pub stream: Option<StreamOutcome>,
    /// The limits of the pair of APIs, which are therefore no findings: the rule, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<[String; 2]>,
    /// The measures of a session, such as how much of each request the next one keeps, each in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<String>,
    /// Whether each request of the client went over a WebSocket, if it asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_socket: Option<bool>,
    /// Its own findings, where others of the run change them that are in other shards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<TestFinding>,
    /// The messages of both sides, in time. Only causes keep them.
    #[serde(skip)]
    pub moments: Vec<BetweenMoment>,
}

/// The outcome of a client's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StreamOutcome {
    /// It is complete, and so is the upstream's.
    Complete,
    /// It ends with an error event.
    ErrorEvent,
    /// The response is a JSON error with an error status.
    JsonError,
    /// It ends without a terminal event.
    Truncated,
    /// It says that it is incomplete, as if a limit had been reached, and nothing of what happened upstream.
    Incomplete,
    /// Its events cannot be read, or break the lifecycle.
    Malformed,
    /// It says that it is complete, and the upstream's is not.
    FalseComplete,
    /// It did not end within the limit.
    Hung,
}

impl StreamOutcome {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::ErrorEvent => "error event",
            Self::JsonError => "JSON error",
            Self::Truncated => "truncated",
            Self::Incomplete => "incomplete",
            Self::Malformed => "malformed",
            Self::FalseComplete => "false complete",
            Self::Hung => "hung",
        }
    }
}

/// A request that no test accounts for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unaccounted {
    /// Its method and path.
    pub request: String,
    /// How often it was received.
    pub times: u64,
    /// The beginning of its body.
    pub body: String,
}
