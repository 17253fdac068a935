//! The plan of a run: what it sends, and how.

use spec::table::Operation;

use crate::plan::{Given, ScenarioCase, Seed};
use results::Options;

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
    /// How they are sent, and what fails.
    pub options: Options,
    /// Whether the shapes of streams are recorded.
    pub shapes: bool,
    /// Seed of the words that only this run sends.
    pub seed: Seed,
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

    /// The number of requests if no selected case needs a second attempt.
    pub fn requests(&self) -> usize {
        let due =
            self.cases.iter().zip(&self.wanted).filter(|(case, wanted)| **wanted && case.unfit.is_none());
        due.map(|(case, _)| if case.is_marked() { self.options.concurrent.max(1) } else { case.requests() })
            .sum()
    }
}
