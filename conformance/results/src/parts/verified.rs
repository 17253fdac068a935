//! How a run of a client or of a gateway compares with its recordings.

use crate::text::cut;
use crate::{Outcome, Test, TestCause, TestFinding};

/// How the results of a run compare with its recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Number of tests that were judged again.
    pub judged: usize,
    /// The differences.
    pub differences: Vec<String>,
    /// Whether a file of the run is unreadable.
    pub is_unreadable: bool,
    /// The tests that fail on what the user names.
    pub failing: Vec<String>,
}

/// Maximum number of differences.
const MOST: usize = 50;
/// Maximum number of characters of a message in a difference.
const MESSAGE: usize = 200;

impl Verified {
    /// Adds a problem that keeps a test from being judged.
    pub fn unreadable(&mut self, problem: String) {
        self.is_unreadable = true;
        self.differences.push(problem);
    }

    /// Adds the files of the folder that are none of the run.
    pub fn strangers(&mut self, found: std::io::Result<Vec<String>>) {
        match found {
            Ok(strangers) => {
                self.differences
                    .extend(strangers.iter().map(|file| format!("{file}: it is no file of the run")));
            }
            Err(error) => self.unreadable(error.to_string()),
        }
    }

    /// Adds how the outcome and the causes of a run differ from those that follow from its tests.
    pub fn compare(&mut self, [outcome, again]: [Outcome; 2], [causes, causes_again]: [&[TestCause]; 2]) {
        if outcome != again {
            self.differences.push(format!("the outcome is {outcome:?}, but its tests say {again:?}"));
        }
        if causes != causes_again {
            self.differences.push("the causes do not follow from its tests".to_owned());
        }
    }

    /// Drops differences beyond a number, and says how many there are.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let more = self.differences.len().saturating_sub(MOST);
        if more > 0 {
            self.differences.truncate(MOST);
            self.differences.push(format!("and {more} more"));
        }
        self
    }
}

impl<A> Test<A> {
    /// Returns how its verdict and its findings differ from a second judgement.
    pub fn differences(&self, judged: &Self) -> Vec<String> {
        let mut all = Vec::new();
        let mut add = |what: String| all.push(format!("{}: {what}", self.name));
        if self.verdict != judged.verdict {
            add(format!("{}, but its recordings say {}", self.verdict.word(), judged.verdict.word()));
        }
        let shown = |finding: &TestFinding| format!("{}: {}", finding.rule, cut(&finding.message, MESSAGE));
        for finding in judged.findings.iter().filter(|finding| !self.findings.contains(finding)) {
            add(format!("its recordings show {}", shown(finding)));
        }
        for finding in self.findings.iter().filter(|finding| !judged.findings.contains(finding)) {
            add(format!("its recordings do not show {}", shown(finding)));
        }
        all
    }
}
