//! The result of checking one recording.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use checker::{Finding, Recognised};
use serde::{Deserialize, Serialize};

use super::faults::Faults;
use super::timeline::Timeline;
use crate::{FailOn, Format};

/// The result of checking one recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CaptureReport {
    /// Its path, as given or relative to the folder of a run; or `standard input`.
    pub name: String,
    /// The folder of the run, if known. Not serialized, as a run can be moved.
    #[serde(skip)]
    pub folder: Option<Arc<Path>>,
    /// Its format; null if it was not recognized.
    pub format: Option<Format>,
    /// Number of streams with events.
    pub streams: u64,
    /// Number of checked events.
    pub events: u64,
    /// Number of non-streaming responses.
    pub bodies: u64,
    /// Number of these that no rule covers: neither an error nor defined by the dialect.
    pub unjudged: u64,
    /// The dialects that were recognised in it, if none was chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<DialectSeen>,
    /// Number of exchanges of other APIs and formats, which are not checked, by their name; `unknown` if they have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_apis: BTreeMap<Cow<'static, str>, u64>,
    /// The logs whose rows it has, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub logs: BTreeMap<Cow<'static, str>, LogRows>,
    /// Number of checked streams and responses that belong to another API, by API. Only that is reported of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub foreign: BTreeMap<Cow<'static, str>, u64>,
    /// Findings.
    pub findings: Vec<Finding>,
    /// Number of findings that are not listed.
    pub omitted: u64,
    /// Findings of rules that the profiles of the run do not demand, by rule: they fail nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outside: BTreeMap<String, Faults>,
    /// Number of lost connections.
    pub lost: u64,
    /// The first lost connection.
    pub first_lost: Option<Lost>,
    /// Error that prevented a complete read.
    pub error: Option<String>,
    /// The `curl` command that repeats its request, if it is one exchange of this suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
    /// Timelines of its exchanges, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// Number of exchanges without a timeline.
    #[serde(default)]
    pub undrawn: u64,
}

/// The name of what shows neither an API nor a format.
pub const UNKNOWN: &str = "unknown";

/// Rows of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LogRows {
    /// Number of rows.
    pub rows: u64,
    /// Number of answers in them: bodies of APIs, or what the log made of these.
    pub answers: u64,
}

/// A dialect that was recognised in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DialectSeen {
    /// The dialect.
    pub dialect: Cow<'static, str>,
    /// Its API, by the name of the folder under `spec/apis`.
    pub api: Cow<'static, str>,
    /// The sign of it, for example `path /messages`.
    pub by: String,
    /// Number of streams and responses.
    pub responses: u64,
}

/// A lost connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Lost {
    /// The exchange, if the recording has several.
    pub exchange: Option<String>,
    /// Number of events before it was lost.
    pub events: u64,
    /// The reason.
    pub reason: String,
}

impl CaptureReport {
    /// Its path from the working directory.
    pub fn path(&self) -> Cow<'_, str> {
        match &self.folder {
            // Within the folder, names have no `./`.
            Some(folder) => {
                let parts = folder.components().filter(|part| *part != Component::CurDir);
                Cow::Owned(parts.collect::<PathBuf>().join(&self.name).display().to_string())
            }
            None => Cow::Borrowed(&self.name),
        }
    }

    /// Counts a stream or a response whose dialect was recognised.
    pub fn add_dialect(&mut self, found: &Recognised) {
        let (dialect, by) = (found.dialect, found.to_string());
        let seen = self.dialects.iter_mut().find(|seen| seen.dialect == dialect.name && seen.by == by);
        if let Some(seen) = seen {
            seen.responses += 1;
        } else {
            let (dialect, api) = (Cow::Borrowed(dialect.name), Cow::Borrowed(dialect.api.name));
            self.dialects.push(DialectSeen { dialect, api, by, responses: 1 });
        }
    }

    /// Returns whether any of its findings fails.
    pub fn has_failed(&self, fail_on: FailOn) -> bool {
        self.findings.iter().any(|finding| fail_on.fails(finding))
    }

    /// Returns whether no rule applies to it.
    pub fn is_blank(&self) -> bool {
        self.streams == 0 && self.bodies == self.unjudged && self.findings.is_empty() && self.answers() == 0
    }

    fn answers(&self) -> u64 {
        self.logs.values().map(|log| log.answers).sum()
    }

    /// Returns whether a response of this API was read.
    pub fn has_responses(&self) -> bool {
        self.answers() > 0 || self.streams + self.bodies > self.unjudged + self.foreign.values().sum::<u64>()
    }

    /// Returns why it has no response, if it has none.
    pub fn unanswered(&self) -> Option<&str> {
        let lost = self.first_lost.as_ref().filter(|_| self.error.is_some())?;
        (self.streams + self.bodies == 0).then_some(&lost.reason)
    }

    /// The number of findings by level.
    pub fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        for finding in &self.findings {
            faults.add(finding);
        }
        faults
    }
}
