//! The report of a gateway from both ends.

use catalogue::Level;
use serde::{Deserialize, Serialize};

use super::{FailOn, LeftOut, LevelChange, Outcome, PlayedResponse, Verdict};
use checker::LevelName;

mod conclude;
mod next;

pub use conclude::ExpectedBetween;

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const BETWEEN_RUN_VERSION: u32 = 1;

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
    /// Number of times that the gateway may repeat a request.
    #[serde(default)]
    pub retries: u32,
    /// Whether the gateway passes the client's key on to the upstream.
    #[serde(default)]
    pub passes_key: bool,
    /// For how many seconds the gateway may read the upstream's stream after the client has left, if that was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drains: Option<u64>,
    /// The URL, if it was given beside the command that started the gateway. Without it, the gateway gets a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_url: Option<String>,
    /// The time limit for a response in milliseconds, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// The time limit in milliseconds for what the upstream waits for, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
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
    /// The pairs of APIs.
    pub pairs: Vec<BetweenPair>,
    /// Causes, the worst first.
    pub causes: Vec<BetweenCause>,
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

/// A pair of APIs: that of the client, and that of the upstream.
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

/// A test and its verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenTest {
    /// Its name: `FRONT-UPSTREAM/CASE`, followed by `@FAULT` or `@FAULT:PLACE`.
    pub name: String,
    /// The case.
    pub case: String,
    /// The API of the client.
    pub front: String,
    /// The API of the upstream.
    pub upstream: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it was not run or not judged.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What became of the client's stream.
    pub stream: Option<StreamOutcome>,
    /// The findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<BetweenFinding>,
    /// What the pair of APIs cannot carry, and is therefore no finding: the rule, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<[String; 2]>,
    /// The recordings of the client, and of the upstream, relative to the folder of the run.
    pub files: Vec<String>,
    /// SHA-256 of its files, if they were written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// Reason of an expected failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Duration in milliseconds.
    pub ms: u64,
    /// What both sides sent and received, in time. Only causes keep it.
    #[serde(skip)]
    pub moments: Vec<BetweenMoment>,
}

/// What becomes of a client's stream.
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
    /// Returns its name in reports.
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

/// A finding, with what both sides show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenFinding {
    /// The rule: one of `between`, or one of the client's API.
    pub rule: String,
    /// Its level.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Whether it fails the run.
    pub fails: bool,
    /// What is wrong.
    pub message: String,
    /// What makes two findings of a rule have the same cause, such as the name of a member.
    pub kind: String,
    /// Clients that are measured to break on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
    /// What the upstream sent or received.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub upstream: String,
    /// What the client sent or received.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
}

/// A cause: the findings of a rule of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenCause {
    /// The rule.
    pub rule: String,
    /// What the findings have in common.
    pub kind: String,
    /// The worst level.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Whether it fails the run.
    pub fails: bool,
    /// The pairs in which it occurs, as `FRONT-UPSTREAM`.
    pub pairs: Vec<String>,
    /// Number of tests.
    pub tests: u64,
    /// The smallest example: the numbers of its test and of the finding in it.
    pub first: [usize; 2],
    /// What both sides sent and received in that test, in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<BetweenMoment>,
    /// What clients did with the gateway's response in that test, if it was played to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<PlayedResponse>,
}

/// Something that was sent or received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenMoment {
    /// When: in microseconds from the start of the test.
    pub at_us: u64,
    /// Where.
    pub side: BetweenSide,
    /// What: a request after `→`, or part of a response after `←`.
    pub what: String,
}

/// The sides of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BetweenSide {
    /// Between the client and the gateway.
    Client,
    /// Between the gateway and the upstream.
    Upstream,
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
