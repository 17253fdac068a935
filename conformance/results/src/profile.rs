//! What a run comes to for a profile.

use serde::{Deserialize, Serialize};

use super::live::Verdict;

/// What a run comes to for a profile, which says what a certificate of one kind demands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ProfileReport {
    /// Its name.
    pub name: String,
    /// Its version: what each demands never changes.
    pub version: u32,
    /// What a certificate of this kind says, in a line.
    pub title: String,
    /// The specification that it was judged by, with its version; null when it is not about the dialect.
    pub specification: Option<Specification>,
    /// What came of it.
    pub state: ProfileState,
    /// The rules that it demands.
    pub rules: Vec<String>,
    /// The scenarios that it demands; of names with `|` between them, one. Of a client, the cases.
    pub scenarios: Vec<String>,
    /// Why it is not passed.
    pub reasons: Vec<Reason>,
}

/// A specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Specification {
    /// The dialect of that version.
    pub name: String,
    /// Where its facts come from.
    pub source: String,
}

/// What came of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProfileState {
    /// All that it demands was exercised, and holds.
    Passed,
    /// Something that it demands does not hold.
    Failed,
    /// Nothing failed, and not all that it demands was exercised.
    Incomplete,
    /// It is not about the dialect of the run.
    NotApplicable,
}

impl ProfileState {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// So many of the demands that are not met are named.
const NAMED: usize = 4;

impl ProfileReport {
    /// What came of it, and what is in the way.
    pub fn words(&self) -> String {
        // What is in the way of all has no name.
        let name = |of: &'_ Reason| if of.name.is_empty() { of.reason.clone() } else { of.name.clone() };
        // Of one that failed, what failed comes before what was not exercised.
        let has_failed = |of: &&Reason| of.verdict == Verdict::Fail;
        let is_due = |of: &&Reason| self.state != ProfileState::Failed || has_failed(of);
        let mut names: Vec<String> = self.reasons.iter().filter(is_due).map(name).collect();
        names.dedup();
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        let state = self.state.name();
        match (names.is_empty(), more) {
            (true, _) => state.to_owned(),
            (false, 0) => format!("{state}: {}", names.join(", ")),
            (false, more) => format!("{state}: {}, and {more} more", names.join(", ")),
        }
    }
}

/// Why a profile is not passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reason {
    /// What is demanded.
    pub demand: Demand,
    /// Its name: that of a rule, a case or a scenario; nothing for the run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// The exchanges that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<String>,
}

/// What is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// That the run came to its end.
    Run,
    /// That a scenario was sent and answered.
    Scenario,
    /// That a rule holds.
    Rule,
    /// That a client handles a case.
    Case,
}
