//! What came of checking one recording.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use catalogue::Level;
use checker::Finding;
use serde::{Deserialize, Serialize};

use super::timeline::Timeline;
use super::totals::Faults;
use crate::Format;

/// What came of checking one recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CaptureReport {
    /// Its name: a path as it was given, or within the folder of a run; or `standard input`.
    pub name: String,
    /// The folder of the run, where it is known. It is not kept: a run can be moved.
    #[serde(skip)]
    pub folder: Option<Arc<Path>>,
    /// Its format; null when it could not be told.
    pub format: Option<Format>,
    /// How many streams with events it holds.
    pub streams: u64,
    /// How many events.
    pub events: u64,
    /// How many answers that are no stream.
    pub bodies: u64,
    /// How many of these no rule reads: they are neither an error nor anything that the dialect has.
    pub unjudged: u64,
    /// How many exchanges are of another API, and were not judged, by the name of that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_apis: BTreeMap<Cow<'static, str>, u64>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many faults there were beyond those that are listed.
    pub omitted: u64,
    /// How many connections were lost while it was made.
    pub lost: u64,
    /// The first of them.
    pub first_lost: Option<Lost>,
    /// Why it could not be read, or not to its end.
    pub error: Option<String>,
    /// The command that sends its request again, where it is one exchange of this suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
    /// How its exchanges went; nothing, when nobody wanted to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// How many exchanges there were beyond those.
    #[serde(default)]
    pub undrawn: u64,
}

/// A connection that was lost while a recording was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Lost {
    /// The exchange of the recording, when it holds several.
    pub exchange: Option<String>,
    /// After so many events.
    pub events: u64,
    /// Why.
    pub reason: String,
}

impl CaptureReport {
    /// Where it is, seen from the working directory.
    pub fn path(&self) -> Cow<'_, str> {
        match &self.folder {
            // Whoever is in the folder sees no `./` before the names.
            Some(folder) => {
                let parts = folder.components().filter(|part| *part != Component::CurDir);
                Cow::Owned(parts.collect::<PathBuf>().join(&self.name).display().to_string())
            }
            None => Cow::Borrowed(&self.name),
        }
    }

    /// Whether a rule that binds is broken.
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Must)
    }

    /// Whether it holds nothing that a rule reads.
    pub fn is_blank(&self) -> bool {
        self.streams == 0 && self.bodies == self.unjudged && self.findings.is_empty()
    }

    /// Why it has no answer, if none came.
    pub fn unanswered(&self) -> Option<&str> {
        let lost = self.first_lost.as_ref().filter(|_| self.error.is_some())?;
        (self.streams + self.bodies == 0).then_some(&lost.reason)
    }

    /// How often rules are broken in it.
    pub fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        for finding in &self.findings {
            *match finding.severity() {
                Level::Must => &mut faults.errors,
                Level::Should => &mut faults.warnings,
                Level::May | Level::Off => &mut faults.notes,
            } += finding.count;
        }
        faults
    }
}
