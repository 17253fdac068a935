//! Twins: the same scenario over several APIs of an endpoint, whose answers were compared.

use crate::{Judgement, Tally, Verdict};
use serde::{Deserialize, Serialize};

/// The version of the format of [`TwinsReport`].
pub const TWINS_VERSION: u32 = 1;

/// The findings of a comparison of several runs, one for each API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinsReport {
    /// Version of this format.
    pub version: u32,
    /// Version of the suite.
    pub suite: String,
    /// The dialects of the runs.
    pub dialects: Vec<String>,
    /// The scenarios, over each transport.
    pub twins: Vec<TwinResult>,
}

/// A scenario that several APIs answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinResult {
    /// The name of the test: `twins::` and the scenario, with a suffix for the transport.
    pub name: String,
    /// The verdict. Its reason has the values of both sides.
    #[serde(flatten)]
    pub judged: Judgement,
    /// Differences that fail nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Differences that the APIs themselves make, with the declared reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<String>,
}

impl TwinsReport {
    /// The results by verdict.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::NONE;
        for twin in &self.twins {
            tally.count(twin.judged.verdict);
        }
        tally
    }

    /// Returns whether a comparison failed.
    pub fn has_failed(&self) -> bool {
        self.twins.iter().any(|twin| twin.judged.verdict == Verdict::Fail)
    }
}
