//! The options of a run.

use std::collections::BTreeMap;

use crate::{FailOn, LevelChange, Shard, Transport};
use serde::{Deserialize, Serialize};

/// The options of a run that bear on its verdicts, or on what was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Options {
    /// When the run began: a time of ISO 8601 in UTC, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
    /// How many milliseconds the run took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// How scenarios were sent.
    pub transports: Vec<Transport>,
    /// Features that the endpoint is said to offer; all of them if absent.
    pub features: Option<Vec<String>>,
    /// Features that the endpoint is said to lack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Only what these profiles demand was sent and checked.
    #[serde(default)]
    pub profiles: Vec<String>,
    /// Only these rules and groups were checked.
    pub select: Vec<String>,
    /// These were not.
    pub ignore: Vec<String>,
    /// The findings that fail a trial. Runs before this member existed have `strict` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// Whether broken SHOULD rules fail a trial, too, and not only broken MUST rules; in runs without `fail_on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// The rules whose level is not the dialect's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelChange>,
    /// How often a scenario was sent at most.
    pub attempts: usize,
    /// How many were sent at once.
    pub jobs: usize,
    /// How many requests were sent at once of the scenarios that are about that.
    #[serde(default = "one")]
    pub concurrent: usize,
    /// Milliseconds between requests.
    pub delay_ms: u128,
    /// Milliseconds until a connection had to stand.
    pub connect_ms: u128,
    /// Milliseconds until the first event had to be there.
    pub first_event_ms: u128,
    /// Milliseconds between events.
    pub idle_ms: u128,
    /// Milliseconds for an answer.
    pub total_ms: u128,
    /// Bytes that an answer could have.
    pub bytes: usize,
    /// Bytes that all exchanges could have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total_bytes: Option<u64>,
    /// Milliseconds that the run could take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total_ms: Option<u128>,
    /// Values that the owner of the endpoint gave, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub given: BTreeMap<String, String>,
    /// The names of the headers that were wanted with each request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// Whether authorities were trusted in addition to the system's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_authorities: bool,
    /// Which of the tests were wanted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub filters: Filters,
}

/// The value of a flag, if it has one.
type Row = (&'static str, Option<String>);

impl Options {
    /// The options that a run has if no flag says otherwise.
    pub fn usual() -> Self {
        Self {
            transports: vec![Transport::Sse, Transport::Json],
            fail_on: Some(FailOn::default()),
            attempts: 3,
            jobs: 1,
            concurrent: 1,
            connect_ms: 10_000,
            first_event_ms: 60_000,
            idle_ms: 60_000,
            total_ms: 300_000,
            bytes: 64 << 20,
            ..Self::default()
        }
    }

    /// The flags of `run` that turn other options into these.
    pub fn flags(&self, usual: &Self) -> Vec<(&'static str, String)> {
        let rows = self.rows().into_iter().zip(usual.rows());
        rows.filter(|(own, usual)| own != usual)
            .filter_map(|((flag, value), _)| Some((flag, value?)))
            .collect()
    }

    /// Each option that a reader can set, by its flag.
    fn rows(&self) -> [Row; 19] {
        let list = |values: &[String]| Some(values.join(",")).filter(|list| !list.is_empty());
        let ms = |time: u128| Some(format!("{time}ms"));
        let transports: Vec<&str> = self.transports.iter().map(|transport| transport.name()).collect();
        let levels: Vec<String> =
            self.levels.iter().map(|change| format!("{}={}", change.rule, change.level.name())).collect();
        [
            ("profile", list(&self.profiles)),
            ("select", list(&self.select)),
            ("ignore", list(&self.ignore)),
            ("transport", Some(transports.join(","))),
            ("features", self.features.as_ref().map(|features| features.join(","))),
            ("without", list(&self.lacks)),
            ("attempts", Some(self.attempts.to_string())),
            ("jobs", Some(self.jobs.to_string())),
            ("concurrent", Some(self.concurrent.to_string())),
            ("delay", ms(self.delay_ms)),
            ("connect-timeout", ms(self.connect_ms)),
            ("first-event-timeout", ms(self.first_event_ms)),
            ("idle-timeout", ms(self.idle_ms)),
            ("timeout", ms(self.total_ms)),
            ("max-bytes", Some(self.bytes.to_string())),
            ("fail-on", Some(self.fail_on().name().to_owned())),
            ("rule", list(&levels)),
            ("max-total-bytes", self.max_total_bytes.map(|bytes| bytes.to_string())),
            ("max-total-time", self.max_total_ms.and_then(ms)),
        ]
    }

    /// The findings that fail a trial.
    pub fn fail_on(&self) -> FailOn {
        let usual = if self.strict == Some(true) { FailOn::Should } else { FailOn::Must };
        self.fail_on.unwrap_or(usual)
    }
}

const fn one() -> usize {
    1
}

/// Which tests were wanted, by their names; all, when nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Filters {
    /// Those that match any of these.
    pub with: Vec<String>,
    /// The names are whole.
    pub exact: bool,
    /// Those that match any of these are left out.
    pub without: Vec<String>,
    /// Only the tests of this part of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}
