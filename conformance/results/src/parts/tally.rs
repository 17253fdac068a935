//! Number of trials by verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::judgement::Verdict;

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

impl Tally {
    /// Nothing.
    pub const NONE: Self = Self { passed: 0, failed: 0, not_exercised: 0, harness_errors: 0 };

    /// The total.
    pub const fn all(self) -> u64 {
        self.passed + self.failed + self.not_exercised + self.harness_errors
    }

    /// The number with this verdict.
    pub const fn of(mut self, verdict: Verdict) -> u64 {
        *self.place(verdict)
    }

    const fn place(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Fail => &mut self.failed,
            Verdict::NotExercised => &mut self.not_exercised,
            Verdict::HarnessError => &mut self.harness_errors,
        }
    }

    /// The most significant verdict: a failure before a harness error.
    pub fn worst(self) -> Verdict {
        let mut all = [Verdict::Fail, Verdict::HarnessError, Verdict::NotExercised].into_iter();
        all.find(|verdict| self.of(*verdict) > 0).unwrap_or(Verdict::Pass)
    }

    pub(crate) const fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.not_exercised += other.not_exercised;
        self.harness_errors += other.harness_errors;
    }

    pub(crate) const fn count(&mut self, verdict: Verdict) {
        *self.place(verdict) += 1;
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
