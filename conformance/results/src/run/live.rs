//! The results of a run against an endpoint, apart from the results of its recordings.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::case::{CaseReport, TrialResult};
use super::latency::Latency;
use super::obstacle::Obstacle;
use super::options::{Filters, Options};
use crate::{ProfileReport, ProfileState, UndecidedKind, Verdict};

/// A run against an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LiveReport {
    /// The endpoint, without secrets.
    pub target: String,
    /// The name of the endpoint in the configuration, if it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// Whether it is the reference gateway, which is there for the run alone.
    #[serde(default)]
    pub is_reference: bool,
    /// The model that was asked for.
    pub model: String,
    /// The command that makes the run again, without secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The options, without secrets.
    pub options: Options,
    /// The state of the run.
    pub state: RunState,
    /// Why the run ended early, if the endpoint could not be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// The scenarios that were sent or left out, with their results.
    pub cases: Vec<CaseReport>,
    /// The results, by profile.
    #[serde(default)]
    pub profiles: Vec<ProfileReport>,
    /// How fast the streams were.
    #[serde(default)]
    pub latency: Vec<Latency>,
    /// Failures that were expected and are over, each with the reason why it cannot be expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It was begun, and nothing is known of its end.
    Begun,
    /// The user ended it.
    Interrupted,
    /// It came to its end.
    Finished,
}

impl LiveReport {
    /// The features that the endpoint turned out not to support.
    pub fn unsupported(&self) -> BTreeSet<&'static str> {
        let is_unsupported = |trial: &TrialResult| trial.judged.kind == UndecidedKind::Unsupported;
        let cases = self.cases.iter().filter(|case| case.trials.iter().any(is_unsupported));
        // The suffix after the id of the scenario is the transport.
        let scenario = |case: &CaseReport| catalogue::scenario(case.name.split('.').next()?);
        cases.filter_map(|case| scenario(case)?.route_feature()).collect()
    }

    /// Returns the profiles that the run was asked for and that did not pass. Where only some of the tests were selected, none
    /// can be complete.
    pub fn unmet(&self) -> impl Iterator<Item = &ProfileReport> {
        let is_whole = self.options.filters == Filters::default();
        let asked = self.profiles.iter().filter(|profile| self.options.profiles.contains(&profile.name));
        asked.filter(move |profile| match profile.state {
            ProfileState::Passed => false,
            ProfileState::Failed => true,
            ProfileState::Incomplete | ProfileState::NotApplicable => is_whole,
        })
    }

    /// Returns whether anything is known about the endpoint.
    pub fn has_verdict(&self) -> bool {
        self.has(Verdict::Pass) || self.has(Verdict::Fail)
    }

    /// Returns whether a trial has this verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.cases.iter().flat_map(|case| &case.trials).any(|trial| trial.judged.verdict == verdict)
    }

    /// The latency of concurrent streams.
    pub fn crowds(&self) -> impl Iterator<Item = &Latency> {
        // Streams of other scenarios were sequential.
        let is_crowd = |latency: &&Latency| catalogue::group(&latency.case) == "crowd" && latency.streams > 1;
        self.latency.iter().filter(is_crowd)
    }
}
