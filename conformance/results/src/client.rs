//! The report of a client.

use serde::{Deserialize, Serialize};

use super::Outcome;
use super::live::Transport;
use super::profile::ProfileReport;

/// The version of the format. It rises when a member goes away or changes its meaning.
pub const CLIENT_RUN_VERSION: u32 = 1;

/// What a client made of every answer that was played to it.
///
/// It is written as `client.json`, read again from there, and is all that any report knows. Texts in it may come from
/// a hostile client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientRun {
    /// Version of this format.
    pub client_run: u32,
    /// Version of the suite.
    pub suite: String,
    /// The name of the client.
    pub client: String,
    /// Its version, as far as that is known.
    pub client_version: Option<String>,
    /// The command that was run.
    pub command: Vec<String>,
    /// How it was driven: `lines`, `spawn` or `server`.
    pub mode: String,
    /// The dialect that it was spoken to in.
    pub dialect: String,
    /// Whether fragile cases and invalid requests fail the run.
    pub strict: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// How many cases ended how.
    pub totals: ClientTally,
    /// How long the run took, in milliseconds.
    pub ms: u64,
    /// The cases and their outcomes.
    pub cases: Vec<ClientCaseReport>,
    /// What the run comes to, by profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileReport>,
    /// Expected failures that did not fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
}

/// A case and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientCaseReport {
    /// Its name.
    pub name: String,
    /// What the client received, in a line.
    pub title: String,
    /// What it had to do: `must-survive`, `must-report` or `either`.
    pub expect: String,
    /// Why.
    pub reason: String,
    /// What makes that binding.
    pub authority: String,
    /// How the answer was sent.
    pub transport: Transport,
    /// What the client did.
    pub outcome: ClientOutcome,
    /// What differs, or which error was reported.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What is wrong with its requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestProblem>,
    /// Why the failure is expected, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What is wrong with a request of a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RequestProblem {
    /// The sentence of the specification that it breaks, such as `N02`, or `schema`, or `content`.
    pub rule: String,
    /// What is wrong.
    pub message: String,
}

/// What a client did with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientOutcome {
    /// It returned the answer.
    Right,
    /// It reported an error where it may.
    Reported,
    /// It failed on what it has to survive, or died.
    Fragile,
    /// It returned another answer, and reported nothing.
    Wrong,
    /// It did not report an error that it has to report.
    Silent,
    /// It did not come to an end.
    Hung,
    /// It does not support this, as it says itself.
    NotExercised,
    /// Its reply could not be read.
    HarnessError,
}

impl ClientOutcome {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Right,
        Self::Reported,
        Self::Fragile,
        Self::Wrong,
        Self::Silent,
        Self::Hung,
        Self::NotExercised,
        Self::HarnessError,
    ];

    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Reported => "reported",
            Self::Fragile => "fragile",
            Self::Wrong => "wrong",
            Self::Silent => "silent",
            Self::Hung => "hung",
            Self::NotExercised => "not exercised",
            Self::HarnessError => "harness error",
        }
    }

    /// A sign for it, where there is no room for its name.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Right => "✓",
            Self::Reported => "!",
            Self::Fragile => "✗",
            Self::Wrong => "≠",
            Self::Silent => "∅",
            Self::Hung => "∞",
            Self::NotExercised => "–",
            Self::HarnessError => "?",
        }
    }

    /// Whether it fails a run: the user is told something false, or nothing.
    pub const fn fails(self, is_strict: bool) -> bool {
        matches!(self, Self::Wrong | Self::Silent | Self::Hung) || is_strict && matches!(self, Self::Fragile)
    }

    /// How bad it is.
    pub const fn rank(self) -> u8 {
        match self {
            Self::NotExercised => 0,
            Self::Right | Self::Reported => 1,
            Self::Fragile => 2,
            Self::HarnessError => 3,
            Self::Wrong | Self::Silent | Self::Hung => 4,
        }
    }
}

/// How many cases ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientTally {
    /// It returned the answer.
    pub right: u64,
    /// It reported an error where it may.
    pub reported: u64,
    /// It failed on what it has to survive.
    pub fragile: u64,
    /// It returned another answer.
    pub wrong: u64,
    /// It did not report an error.
    pub silent: u64,
    /// It did not come to an end.
    pub hung: u64,
    /// It does not support this.
    pub not_exercised: u64,
    /// Its reply could not be read.
    pub harness_errors: u64,
    /// Cases in which a request of it was invalid.
    pub invalid_requests: u64,
}

impl ClientTally {
    /// Counts cases.
    pub fn of(cases: &[ClientCaseReport]) -> Self {
        let mut tally = Self::default();
        for case in cases {
            *match case.outcome {
                ClientOutcome::Right => &mut tally.right,
                ClientOutcome::Reported => &mut tally.reported,
                ClientOutcome::Fragile => &mut tally.fragile,
                ClientOutcome::Wrong => &mut tally.wrong,
                ClientOutcome::Silent => &mut tally.silent,
                ClientOutcome::Hung => &mut tally.hung,
                ClientOutcome::NotExercised => &mut tally.not_exercised,
                ClientOutcome::HarnessError => &mut tally.harness_errors,
            } += 1;
            tally.invalid_requests += u64::from(!case.requests.is_empty());
        }
        tally
    }

    /// Returns how many ended so.
    pub const fn count(&self, outcome: ClientOutcome) -> u64 {
        match outcome {
            ClientOutcome::Right => self.right,
            ClientOutcome::Reported => self.reported,
            ClientOutcome::Fragile => self.fragile,
            ClientOutcome::Wrong => self.wrong,
            ClientOutcome::Silent => self.silent,
            ClientOutcome::Hung => self.hung,
            ClientOutcome::NotExercised => self.not_exercised,
            ClientOutcome::HarnessError => self.harness_errors,
        }
    }
}

impl ClientCaseReport {
    /// Returns whether it fails a run.
    pub fn has_failed(&self, is_strict: bool) -> bool {
        self.outcome.fails(is_strict) || is_strict && !self.requests.is_empty()
    }
}

impl ClientRun {
    /// Sets the totals and the outcome from the cases.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        self.totals = ClientTally::of(&self.cases);
        let has_failed = |case: &ClientCaseReport| case.has_failed(self.strict) && case.expected.is_none();
        let is_idle = self.cases.iter().all(|case| case.outcome == ClientOutcome::NotExercised);
        self.outcome = match () {
            () if self.cases.iter().any(has_failed) || !self.stale.is_empty() => Outcome::Failed,
            () if self.totals.harness_errors > 0 || is_idle => Outcome::Incomplete,
            () => Outcome::Passed,
        };
        self
    }

    /// Returns its name and version.
    pub fn title(&self) -> String {
        match &self.client_version {
            Some(version) => format!("{} {version}", self.client),
            None => self.client.clone(),
        }
    }
}
