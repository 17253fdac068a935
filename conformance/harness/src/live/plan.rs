//! The plan of a run: what it sends, and how.

use std::time::Duration;

use spec::table::Operation;

use crate::plan::{Given, ScenarioCase, Seed};
use results::FailOn;

/// The cases of a run, and how to send them.
#[derive(Debug)]
pub struct RunPlan {
    /// All cases; a case that others continue precedes them.
    pub cases: Vec<ScenarioCase>,
    /// Whether each case is selected, by index.
    pub wanted: Vec<bool>,
    /// The requested model.
    pub model: String,
    /// Values that only the owner of the endpoint knows.
    pub given: Given,
    /// Maximum number of attempts of a case whose response lacks what the scenario is about.
    pub attempts: usize,
    /// Number of concurrent cases.
    pub jobs: usize,
    /// Number of concurrent requests in cases about concurrency.
    pub concurrent: usize,
    /// Delay between requests.
    pub delay: Duration,
    /// The findings that fail a trial.
    pub fail_on: FailOn,
    /// Whether the shapes of streams are recorded.
    pub shapes: bool,
    /// Limits of the run as a whole.
    pub budget: Budget,
    /// Seed of the words that only this run sends.
    pub seed: Seed,
}

/// Limits of a run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Maximum number of recorded bytes.
    pub bytes: Option<u64>,
    /// Maximum duration of sending.
    pub time: Option<Duration>,
}

impl RunPlan {
    /// Also selects the cases that selected ones continue or are compared with.
    pub fn complete(&mut self) {
        for at in (0..self.cases.len()).rev() {
            let is_sent = self.wanted.get(at) == Some(&true) && self.cases[at].unfit.is_none();
            let ScenarioCase { previous, compared, .. } = &self.cases[at];
            for needed in previous.iter().chain(compared).filter(|_| is_sent) {
                self.wanted[*needed] = true;
            }
        }
    }

    /// Returns whether a case polls for its response, so that the number of requests is unknown.
    pub fn polls(&self) -> bool {
        let due = self.cases.iter().zip(&self.wanted).filter(|(_, wanted)| **wanted);
        due.map(|(case, _)| case)
            .any(|case| case.unfit.is_none() && case.scenario.operation == Operation::Poll)
    }

    /// Returns the number of requests if no selected case needs a second attempt.
    pub fn requests(&self) -> usize {
        let due =
            self.cases.iter().zip(&self.wanted).filter(|(case, wanted)| **wanted && case.unfit.is_none());
        due.map(|(case, _)| if case.is_marked() { self.concurrent.max(1) } else { case.requests() }).sum()
    }
}
