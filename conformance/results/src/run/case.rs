//! The results of a case: a scenario over one transport.

use checker::Finding;
use serde::{Deserialize, Serialize};

use super::capture::CaptureReport;
use crate::{Judgement, Run, Tally, Verdict};

/// Suffix of the name of the trial for the rules of all groups without a separate trial.
pub const OTHER_RULES: &str = "other-rules";

/// A scenario, or its twin, with its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CaseReport {
    /// Its name: the scenario's, with `.json` behind it for the twin.
    pub name: String,
    /// Its request, in a line.
    pub title: String,
    /// The recordings of it, by their place among the captures.
    pub attempts: Vec<usize>,
    /// How many attempts did not bring what was requested, before one did.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub missed: usize,
    /// Its trials with their verdicts.
    pub trials: Vec<TrialResult>,
}

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Told"))]
pub struct TrialResult {
    /// The name of the trial.
    pub name: String,
    /// Its verdict and reason.
    #[serde(flatten)]
    pub judged: Judgement,
}

impl CaseReport {
    /// The number of its trials by verdict.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for trial in &self.trials {
            tally.count(trial.judged.verdict);
        }
        tally
    }

    /// Its recordings.
    pub fn recordings<'r>(&'r self, run: &'r Run) -> impl Iterator<Item = &'r CaptureReport> {
        self.attempts.iter().filter_map(|at| run.captures.get(*at))
    }

    /// Returns the subject of a trial, from the suffix of its name: `answer`, a group of rules, or [`OTHER_RULES`].
    pub fn about<'t>(&self, trial: &'t TrialResult) -> &'t str {
        trial.name.rsplit("::").next().unwrap_or_default()
    }

    /// The findings that fail a trial, each with its recording.
    pub fn findings<'r>(
        &'r self,
        trial: &'r TrialResult,
        run: &'r Run,
    ) -> impl Iterator<Item = (&'r CaptureReport, &'r Finding)> {
        let about = self.about(trial);
        let is_meant = move |finding: &Finding| {
            let group = finding.group();
            let is_other = || self.trials.iter().all(|trial| self.about(trial) != group);
            run.fail_on.fails(finding) && (about == group || about == OTHER_RULES && is_other())
        };
        self.recordings(run).flat_map(move |capture| {
            let findings = capture.findings.iter().filter(move |finding| is_meant(finding));
            findings.map(move |finding| (capture, finding))
        })
    }
}

impl TrialResult {
    /// Returns whether there is no result for the endpoint.
    pub fn is_harness_error(&self) -> bool {
        self.judged.verdict == Verdict::HarnessError
    }
}
