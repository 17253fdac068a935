//! The report of a client.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::judgement::Verdict;
use super::next::Step;
use super::profile::{ProfileReport, ProfileState};
use super::transport::Transport;
use super::{Outcome, shell_word};

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const CLIENT_RUN_VERSION: u32 = 1;

/// The results of a client for every case.
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
    /// Its version, if known.
    pub client_version: Option<String>,
    /// The command of the client.
    pub command: Vec<String>,
    /// Mode: `lines`, `spawn` or `server`.
    pub mode: String,
    /// The dialect of the server.
    pub dialect: String,
    /// Whether fragile cases and invalid requests fail the run.
    pub strict: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// Number of cases by outcome.
    pub totals: ClientTally,
    /// Duration of the run in milliseconds.
    pub ms: u64,
    /// The cases and their outcomes.
    pub cases: Vec<ClientCaseReport>,
    /// The results, by profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileReport>,
    /// The profiles that the run was asked for. It passes only if they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Whether only some of the cases were selected, so that no profile can be complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
    /// Expected failures that did not fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// The folder that it was written to or read from, if there is one.
    #[serde(skip)]
    pub folder: Option<String>,
}

/// A case and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientCaseReport {
    /// Its name.
    pub name: String,
    /// What the client received, in one line.
    pub title: String,
    /// What it must do: `must-survive`, `must-report` or `either`.
    pub expect: String,
    /// The reason.
    pub reason: String,
    /// The authority for it.
    pub authority: String,
    /// The transport of the response.
    pub transport: Transport,
    /// The case that plays the same stream intact. A client that fails on it, too, does not fail for the edits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// What the client did.
    pub outcome: ClientOutcome,
    /// The difference, or the reported error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Problems of its requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestProblem>,
    /// Reason of an expected failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Duration in milliseconds.
    pub ms: u64,
}

/// A problem of a request of a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RequestProblem {
    /// The violated sentence of the specification, such as `N02`, or `schema`, or `content`.
    pub rule: String,
    /// The problem.
    pub message: String,
}

/// The reaction of a client to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientOutcome {
    /// It returned the answer.
    Right,
    /// It reported an error where one is allowed.
    Reported,
    /// It failed or crashed where it must survive.
    Fragile,
    /// It returned a different answer without an error.
    Wrong,
    /// It did not report a required error.
    Silent,
    /// It did not finish.
    Hung,
    /// It declared this as unsupported.
    NotExercised,
    /// Its reply could not be parsed.
    HarnessError,
}

impl ClientOutcome {
    /// All outcomes, in the order of reports.
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

    /// Returns its name in reports, a symbol for tables, and what it means for the user of the client.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Right => ("right", "✓", "it returned the answer"),
            Self::Reported => ("reported", "!", "it reported an error, as it may"),
            Self::Fragile => ("fragile", "✗", "it failed on a response that it must handle"),
            Self::Wrong => ("wrong", "≠", "it returned another answer without an error"),
            Self::Silent => ("silent", "∅", "it reported no error for a response that failed"),
            Self::Hung => ("hung", "∞", "it did not come to an end"),
            Self::NotExercised => {
                ("not exercised", "–", "it does not support this, or returned nothing to judge")
            }
            Self::HarnessError => ("harness error", "?", "its reply could not be read"),
        }
    }

    /// Returns its name in reports.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns a symbol for tables.
    pub const fn sign(self) -> &'static str {
        self.words().1
    }

    /// Returns what it means for the user of the client.
    pub const fn meaning(self) -> &'static str {
        self.words().2
    }

    /// Returns whether it fails a run: the user would see a wrong answer, or none.
    pub const fn fails(self, is_strict: bool) -> bool {
        matches!(self, Self::Wrong | Self::Silent | Self::Hung) || is_strict && matches!(self, Self::Fragile)
    }

    /// Returns its severity.
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

/// Number of cases by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientTally {
    /// It returned the answer.
    pub right: u64,
    /// It reported an error where one is allowed.
    pub reported: u64,
    /// It failed where it must survive.
    pub fragile: u64,
    /// It returned a different answer.
    pub wrong: u64,
    /// It did not report a required error.
    pub silent: u64,
    /// It did not finish.
    pub hung: u64,
    /// It declared this as unsupported.
    pub not_exercised: u64,
    /// Its reply could not be parsed.
    pub harness_errors: u64,
    /// Cases with an invalid request.
    pub invalid_requests: u64,
}

impl ClientTally {
    /// Counts cases.
    pub fn of(cases: &[ClientCaseReport]) -> Self {
        let mut tally = Self::default();
        for case in cases {
            *tally.place(case.outcome) += 1;
            tally.invalid_requests += u64::from(!case.requests.is_empty());
        }
        tally
    }

    /// Returns the number of cases with this outcome.
    pub const fn count(mut self, outcome: ClientOutcome) -> u64 {
        *self.place(outcome)
    }

    const fn place(&mut self, outcome: ClientOutcome) -> &mut u64 {
        match outcome {
            ClientOutcome::Right => &mut self.right,
            ClientOutcome::Reported => &mut self.reported,
            ClientOutcome::Fragile => &mut self.fragile,
            ClientOutcome::Wrong => &mut self.wrong,
            ClientOutcome::Silent => &mut self.silent,
            ClientOutcome::Hung => &mut self.hung,
            ClientOutcome::NotExercised => &mut self.not_exercised,
            ClientOutcome::HarnessError => &mut self.harness_errors,
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
    /// Returns the run with totals and outcome computed from the cases.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        self.totals = ClientTally::of(&self.cases);
        let has_failed = |case: &ClientCaseReport| case.has_failed(self.strict) && case.expected.is_none();
        let has_unmet = |outcome| self.unmet().any(|(_, unmet)| unmet == outcome);
        self.outcome = match () {
            () if self.cases.iter().any(has_failed) || !self.stale.is_empty() => Outcome::Failed,
            () if has_unmet(Outcome::Failed) => Outcome::Failed,
            () if self.is_untested() || has_unmet(Outcome::Incomplete) => Outcome::Incomplete,
            () => Outcome::Passed,
        };
        self
    }

    /// Returns whether a reply could not be read, or no case was exercised.
    pub fn is_untested(&self) -> bool {
        let is_idle = self.cases.iter().all(|case| case.outcome == ClientOutcome::NotExercised);
        self.totals.harness_errors > 0 || is_idle
    }

    /// Returns the profiles that the run was asked for and that keep it from passing. Expected failures do not.
    pub fn unmet(&self) -> impl Iterator<Item = (&ProfileReport, Outcome)> {
        let is_expected =
            |name: &str| self.cases.iter().any(|case| case.name == name && case.expected.is_some());
        self.profiles.iter().filter(|profile| self.asked.contains(&profile.name)).filter_map(move |profile| {
            let has_failed = profile
                .reasons
                .iter()
                .any(|reason| reason.verdict != Verdict::NotExercised && !is_expected(&reason.name));
            match profile.state {
                ProfileState::Failed if has_failed => Some((profile, Outcome::Failed)),
                ProfileState::Incomplete | ProfileState::NotApplicable if !self.is_part => {
                    Some((profile, Outcome::Incomplete))
                }
                _ => None,
            }
        })
    }

    /// Returns whether a case keeps a profile that the run was asked for from passing.
    pub fn is_demanded(&self, case: &ClientCaseReport) -> bool {
        self.unmet().any(|(profile, _)| profile.reasons.iter().any(|reason| reason.name == case.name))
    }

    /// Returns the cases that did not end as they must, the worst first.
    pub fn bad(&self) -> Vec<&ClientCaseReport> {
        let mut bad: Vec<_> = self.cases.iter().filter(|case| case.outcome.rank() > 1).collect();
        bad.sort_by_key(|case| Reverse(case.outcome.rank()));
        bad
    }

    /// Returns the cases that fail the run, or could not be judged.
    pub fn failed(&self) -> impl Iterator<Item = &ClientCaseReport> {
        let has_failed = |case: &&ClientCaseReport| {
            case.has_failed(self.strict) || case.outcome == ClientOutcome::HarnessError
        };
        self.cases.iter().filter(has_failed)
    }

    /// Returns suggested steps.
    pub fn next(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let bad = self.bad();
        let Some(first) = bad.iter().find(|case| case.expected.is_none()).or(bad.first()) else {
            return steps;
        };
        let (dialect, name) = (self.dialect_flag(), shell_word(&first.name));
        steps.push(Step::new(
            format!("show what {} plays, and what is expected", first.name),
            format!("conformance client --show {name}{dialect}"),
        ));
        if self.command.is_empty() {
            return steps;
        }
        let words: Vec<_> = self.command.iter().map(|word| shell_word(word)).collect();
        let mode =
            if self.mode == "lines" { String::new() } else { format!(" --mode {}", shell_word(&self.mode)) };
        steps.push(match &self.folder {
            Some(folder) if self.failed().next().is_some() => Step::new(
                "run only the failed cases again",
                format!("conformance client --rerun-failed {}", shell_word(folder)),
            ),
            _ => Step::new(
                format!("run only {} again", first.name),
                format!("conformance client{mode}{dialect} {name} -- {}", words.join(" ")),
            ),
        });
        steps
    }

    /// Returns the flag for its dialect, unless that is the default one.
    pub fn dialect_flag(&self) -> String {
        match &*self.dialect {
            "openai" => String::new(),
            other => format!(" --dialect {}", shell_word(other)),
        }
    }

    /// Returns its name and version.
    pub fn title(&self) -> String {
        match &self.client_version {
            Some(version) => format!("{} {version}", self.client),
            None => self.client.clone(),
        }
    }
}
