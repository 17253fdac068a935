//! Totals of the trials of an endpoint.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::live::{CaseReport, Judgement, UndecidedKind, Verdict};

/// Number of trials, or requirements of profiles, by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Not exercised.
    pub not_exercised: u64,
    /// Harness errors.
    pub harness_errors: u64,
}

/// A group of scenarios, and the results of their trials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GroupTotal {
    /// Its name: the prefix of its scenarios.
    pub name: String,
    /// Number of its requests, including twins.
    pub cases: u64,
    /// Results of the trials.
    #[serde(flatten)]
    pub trials: Tally,
}

/// Trials without a verdict for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Undecided {
    /// The reason.
    pub reason: String,
    /// The kind of reason.
    #[serde(default, skip_serializing_if = "UndecidedKind::is_other")]
    pub kind: UndecidedKind,
    /// The reason without what its kind already states: the missing events, the flag to pass, or the feature.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Not exercised, or a harness error, if one is among them.
    pub verdict: Verdict,
    /// Number of trials.
    pub trials: u64,
    /// Their scenarios.
    pub cases: Vec<String>,
}

impl Tally {
    /// Nothing.
    pub const NONE: Self = Self { passed: 0, failed: 0, not_exercised: 0, harness_errors: 0 };

    /// Returns the total.
    pub const fn all(self) -> u64 {
        self.passed + self.failed + self.not_exercised + self.harness_errors
    }

    /// Returns the number with this verdict.
    pub const fn of(self, verdict: Verdict) -> u64 {
        match verdict {
            Verdict::Pass => self.passed,
            Verdict::Fail => self.failed,
            Verdict::NotExercised => self.not_exercised,
            Verdict::HarnessError => self.harness_errors,
        }
    }

    /// Returns the most significant verdict: a failure before a harness error.
    pub fn worst(self) -> Verdict {
        let mut all = [Verdict::Fail, Verdict::HarnessError, Verdict::NotExercised].into_iter();
        all.find(|verdict| self.of(*verdict) > 0).unwrap_or(Verdict::Pass)
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.not_exercised += other.not_exercised;
        self.harness_errors += other.harness_errors;
    }

    pub(super) const fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Fail => &mut self.failed,
            Verdict::NotExercised => &mut self.not_exercised,
            Verdict::HarnessError => &mut self.harness_errors,
        } += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, not_exercised, harness_errors } = *self;
        let errors = if harness_errors == 1 { "harness error" } else { "harness errors" };
        let told = [
            (passed, "passed"),
            (failed, "failed"),
            (not_exercised, "not exercised"),
            (harness_errors, errors),
        ];
        let told: Vec<String> = told
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        to.write_str(if told.is_empty() { "no trials" } else { "" })?;
        to.write_str(&told.join(", "))
    }
}

impl GroupTotal {
    /// Returns all groups, sorted by name.
    pub(super) fn all(cases: &[CaseReport]) -> Vec<Self> {
        let mut groups: BTreeMap<&str, Self> = BTreeMap::new();
        for case in cases {
            let name = catalogue::group(&case.name);
            let group =
                groups.entry(name).or_insert_with(|| Self { name: name.to_owned(), ..Self::default() });
            group.cases += 1;
            group.trials.add(case.tally());
        }
        groups.into_values().collect()
    }
}

impl Undecided {
    /// Returns the untested trials by reason: harness errors first, then the most frequent.
    pub(super) fn all(cases: &[CaseReport]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for case in cases {
            for told in &case.trials {
                let judged = &told.judged;
                if matches!(judged.verdict, Verdict::Pass | Verdict::Fail) {
                    continue;
                }
                let Judgement { reason, kind, detail, .. } = reason(case, judged);
                let Some(known) = all.iter_mut().find(|known| known.reason == reason) else {
                    let cases = vec![case.name.clone()];
                    all.push(Self { reason, kind, detail, verdict: judged.verdict, trials: 1, cases });
                    continue;
                };
                known.trials += 1;
                if judged.verdict == Verdict::HarnessError {
                    known.verdict = judged.verdict;
                }
                if known.cases.last() != Some(&case.name) {
                    known.cases.push(case.name.clone());
                }
            }
        }
        // The sort is stable: equal reasons stay in the order of scenarios.
        all.sort_by_key(|one| (one.verdict != Verdict::HarnessError, Reverse(one.trials)));
        all
    }
}

/// Returns the judgement with the reason of a trial. Trials that depend on the response share its reason.
fn reason(case: &CaseReport, judged: &Judgement) -> Judgement {
    let answer = case.trials.iter().find(|told| case.about(told) == "answer").map(|told| &told.judged);
    match answer {
        Some(answer) if answer.verdict == Verdict::Fail => {
            Judgement::new(judged.verdict, format!("no such response: {}", answer.reason))
        }
        Some(answer) if answer.verdict != Verdict::Pass => answer.clone(),
        _ => judged.clone(),
    }
}
