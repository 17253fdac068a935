//! Results of profiles.

use serde::{Deserialize, Serialize};

use super::exercised::Share;
use super::judgement::{Judgement, UndecidedKind, Verdict};
use crate::text::listed;

/// The result of a run for a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ProfileReport {
    /// Its name.
    pub name: String,
    /// Its version. The requirements of a version never change.
    pub version: u32,
    /// Its title, in one line.
    pub title: String,
    /// The specification and its version; null if the profile is for another dialect.
    pub specification: Option<Specification>,
    /// Its state.
    pub state: ProfileState,
    /// Its rules.
    pub rules: Vec<String>,
    /// Its scenarios; of alternatives (`|`), one. For a client, its cases.
    pub scenarios: Vec<String>,
    /// How many of the transitions that its features reach its scenarios exercised, if that was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<Share>,
    /// Why it did not pass.
    pub reasons: Vec<Reason>,
}

/// A specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Specification {
    /// The dialect of the version.
    pub name: String,
    /// The source of the dialect.
    pub source: String,
}

/// The state of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProfileState {
    /// All its requirements were exercised and passed.
    Passed,
    /// A requirement failed.
    Failed,
    /// Nothing failed, but some requirements were not exercised.
    Incomplete,
    /// It is for another dialect.
    NotApplicable,
}

impl ProfileState {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// Maximum number of unmet requirements to list.
const NAMED: usize = 4;

impl ProfileReport {
    /// Creates the report of a profile for which nothing is known yet.
    pub fn new(name: &str, version: u32, title: &str, specification: Option<Specification>) -> Self {
        Self {
            name: name.to_owned(),
            version,
            title: title.to_owned(),
            specification,
            state: ProfileState::NotApplicable,
            rules: Vec::new(),
            scenarios: Vec::new(),
            transitions: None,
            reasons: Vec::new(),
        }
    }

    /// Sets the state that follows from the reasons.
    #[must_use]
    pub fn decided(mut self) -> Self {
        let has_failed = self.reasons.iter().any(|reason| reason.verdict == Verdict::Fail);
        self.state = match (has_failed, self.reasons.is_empty()) {
            (true, _) => ProfileState::Failed,
            (false, true) => ProfileState::Passed,
            (false, false) => ProfileState::Incomplete,
        };
        self
    }

    /// Returns the state with the unmet requirements.
    pub fn words(&self) -> String {
        let state = self.state.name();
        match &*self.unmet() {
            [] => state.to_owned(),
            names => format!("{state}: {}", listed(names, NAMED, |name| (*name).to_owned())),
        }
    }

    /// Returns the unmet requirements, each once: what failed, or else what was not exercised. A reason for the whole run has no
    /// name, and comes first.
    pub fn unmet(&self) -> Vec<&str> {
        let has_failed = |of: &&Reason| of.verdict == Verdict::Fail;
        let is_due = |of: &&Reason| self.state != ProfileState::Failed || has_failed(of);
        let due = || self.reasons.iter().filter(is_due);
        let of_run = due().filter(|of| of.name.is_empty()).map(|of| of.reason.as_str());
        let named = due().filter(|of| !of.name.is_empty()).map(|of| of.name.as_str());
        let mut unmet: Vec<&str> = Vec::new();
        for name in of_run.chain(named) {
            if !unmet.contains(&name) {
                unmet.push(name);
            }
        }
        unmet
    }
}

/// Why a profile did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The kind of requirement.
    pub demand: Demand,
    /// Its name: a rule, a case or a scenario; empty for the run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its state.
    pub verdict: Verdict,
    /// The reason.
    pub reason: String,
    /// The kind of reason.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kind: UndecidedKind,
    /// The exchanges with the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<String>,
}

impl Reason {
    /// Creates the reason why a whole run does not count.
    pub fn of_run(reason: impl Into<String>) -> Self {
        Self::new(Demand::Run, "", Verdict::NotExercised, reason)
    }

    /// Creates a reason without exchanges.
    pub fn new(demand: Demand, name: &str, verdict: Verdict, reason: impl Into<String>) -> Self {
        Self::judged(demand, name, &Judgement::new(verdict, reason))
    }

    /// Creates the reason of a judgement, without exchanges.
    pub fn judged(demand: Demand, name: &str, judged: &Judgement) -> Self {
        let Judgement { verdict, reason, kind, .. } = judged.clone();
        Self { demand, name: name.to_owned(), verdict, reason, kind, exchanges: Vec::new() }
    }
}

/// The kind of requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// The run finished.
    Run,
    /// A scenario was sent and answered.
    Scenario,
    /// A rule passed.
    Rule,
    /// A stream went through what only a feature reaches.
    Feature,
    /// A client handled a case.
    Case,
}
