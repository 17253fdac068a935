//! What came of checking one recording.

use serde::{Deserialize, Serialize};
use spec::catalogue::Level;

use super::finding::Finding;
use super::timeline::Timeline;
use crate::capture::Format;

/// What came of checking one recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaptureReport {
    /// Its name, as it was given: a path, or `-`.
    pub name: String,
    /// Its format; null when it could not be told.
    pub format: Option<Format>,
    /// How many streams with events it holds.
    pub streams: u64,
    /// How many events.
    pub events: u64,
    /// How many answers that are no stream.
    pub bodies: u64,
    /// How many of these no rule reads: they are neither a response nor an error.
    pub unjudged: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many faults there were beyond those that are listed.
    pub omitted: u64,
    /// Why it could not be read, or not to its end.
    pub error: Option<String>,
    /// How its exchanges went; nothing, when nobody wanted to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// How many exchanges there were beyond those.
    #[serde(default)]
    pub undrawn: u64,
}

impl CaptureReport {
    /// Whether a rule that binds is broken.
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Must)
    }
}
