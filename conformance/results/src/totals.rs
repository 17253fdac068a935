//! Totals of a run by level, rule and client.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::{CLIENTS, Level, Rule};
use serde::{Deserialize, Serialize};

use super::capture::CaptureReport;
use super::trials::Tally;
use checker::{Finding, LevelName, Rules};

/// Totals of checks and findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Recordings.
    pub captures: u64,
    /// Streams with events.
    pub streams: u64,
    /// Checked events.
    pub events: u64,
    /// Non-streaming responses.
    pub bodies: u64,
    /// Responses that no rule covers.
    pub unjudged: u64,
    /// Recordings that could not be read completely.
    pub unread: u64,
    /// Lost connections.
    pub lost: u64,
    /// Findings of MUST rules.
    pub errors: u64,
    /// Findings of SHOULD rules.
    pub warnings: u64,
    /// Findings of MAY rules.
    pub notes: u64,
    /// Findings that are not listed.
    pub omitted: u64,
    /// Trials of an endpoint.
    pub trials: Tally,
}

impl Totals {
    /// Returns the totals of all recordings.
    pub fn of(captures: &[CaptureReport]) -> Self {
        let mut totals = Self::default();
        for capture in captures {
            totals.add(capture);
        }
        totals
    }

    /// Adds a recording.
    pub fn add(&mut self, capture: &CaptureReport) {
        self.captures += 1;
        self.streams += capture.streams;
        self.events += capture.events;
        self.bodies += capture.bodies;
        self.unjudged += capture.unjudged;
        self.unread += u64::from(capture.error.is_some());
        self.lost += capture.lost;
        self.omitted += capture.omitted;
        let Faults { errors, warnings, notes } = capture.faults();
        self.errors += errors;
        self.warnings += warnings;
        self.notes += notes;
    }

    /// Returns the number of findings by level.
    pub const fn faults(&self) -> Faults {
        Faults { errors: self.errors, warnings: self.warnings, notes: self.notes }
    }
}

/// Number of findings by level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Faults {
    /// Of MUST rules.
    pub errors: u64,
    /// Of SHOULD rules.
    pub warnings: u64,
    /// Of MAY rules.
    pub notes: u64,
}

impl Faults {
    /// Adds a finding as often as it was seen.
    pub(super) fn add(&mut self, finding: &Finding) {
        *match finding.level {
            Level::Must => &mut self.errors,
            Level::Should => &mut self.warnings,
            Level::May | Level::Off => &mut self.notes,
        } += finding.count;
    }

    /// Returns the numbers above zero, the worst first, with their nouns.
    pub fn non_zero(self) -> impl Iterator<Item = (u64, &'static str)> {
        let all = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        all.into_iter().filter(|(count, _)| *count > 0)
    }

    /// Returns the sum of the numbers.
    pub const fn all(self) -> u64 {
        self.errors + self.warnings + self.notes
    }

    /// Returns the numbers of this level and above.
    #[must_use]
    pub fn from(mut self, shown: Level) -> Self {
        if shown > Level::May {
            self.notes = 0;
        }
        if shown > Level::Should {
            self.warnings = 0;
        }
        self
    }
}

/// A checked rule, and its number of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RuleTotal {
    /// The rule, `group/name`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its level in this run: that of the dialect, unless the reader changed it.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Its authority.
    pub authority: String,
    /// The worst level of its findings, which may be below that of the rule; off without findings.
    #[serde(with = "LevelName")]
    pub worst: Level,
    /// Number of findings.
    pub times: u64,
    /// Number of recordings.
    pub captures: u64,
    /// Its first place: index of the capture, index of the finding.
    pub first: Option<[usize; 2]>,
}

impl RuleTotal {
    /// Returns all checked rules, in the order of the catalogue.
    pub fn all(rules: &Rules, captures: &[CaptureReport]) -> Vec<Self> {
        let mut totals: BTreeMap<&str, Self> = BTreeMap::new();
        for rule in rules.iter() {
            totals.insert(
                rule.id,
                Self {
                    id: rule.id.to_owned(),
                    title: rule.title.to_owned(),
                    level: rules.level(rule),
                    authority: rule.citation.to_string(),
                    worst: Level::Off,
                    times: 0,
                    captures: 0,
                    first: None,
                },
            );
        }
        for (of, capture) in captures.iter().enumerate() {
            let mut here = BTreeSet::new();
            for (at, finding) in capture.findings.iter().enumerate() {
                let Some(total) = totals.get_mut(finding.rule.as_ref()) else { continue };
                total.worst = total.worst.max(finding.level);
                total.times += finding.count;
                total.captures += u64::from(here.insert(finding.rule.as_ref()));
                total.first = total.first.or(Some([of, at]));
            }
        }
        totals.into_values().collect()
    }
}

/// The state of a client after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// A recording breaks it.
    Broken,
    /// It was tested with streams that break each of these rules, and reads them.
    NotAffected,
    /// It was not tested with all of these rules.
    NotMeasured,
}

/// A client, and its failures on the recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientTotal {
    /// The client.
    pub name: String,
    /// The tested version, with the call; `None` if it is known only from reports.
    #[serde(default)]
    pub version: Option<String>,
    /// Its state.
    pub state: ClientState,
    /// Number of recordings that break it.
    pub captures: u64,
    /// Broken rules that it was not tested with, unless a recording breaks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<String>,
    /// The broken rules, most frequent first.
    pub rules: Vec<Broken>,
}

/// A rule whose violation breaks a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Broken {
    /// The rule.
    pub rule: String,
    /// The failure of the client.
    pub failure: String,
    /// Number of recordings.
    pub captures: u64,
}

impl ClientTotal {
    /// Returns all known clients.
    pub fn all(captures: &[CaptureReport]) -> Vec<Self> {
        let mut totals: BTreeMap<&str, (u64, BTreeMap<&str, u64>)> = BTreeMap::new();
        for client in CLIENTS {
            totals.entry(client.name).or_default();
        }
        for capture in captures {
            let broken: BTreeSet<(&str, &str)> = capture.findings.iter().flat_map(clients_by_rule).collect();
            let mut here = BTreeSet::new();
            for (client, rule) in broken {
                let (captures, rules) = totals.entry(client).or_default();
                *captures += u64::from(here.insert(client));
                *rules.entry(rule).or_default() += 1;
            }
        }
        let found = captures.iter().flat_map(|capture| &capture.findings);
        let found: BTreeSet<&str> = found.map(|finding| finding.rule.as_ref()).collect();
        let mut totals: Vec<Self> =
            totals.into_iter().map(|(name, broken)| Self::of(name, broken, &found)).collect();
        // The sort is stable: equal clients stay in the order of names.
        totals.sort_by_key(|client| (client.state, Reverse(client.captures)));
        totals
    }

    fn of(name: &str, (captures, rules): (u64, BTreeMap<&str, u64>), found: &BTreeSet<&str>) -> Self {
        let version = catalogue::client(name).and_then(|client| client.version);
        let is_measured = |rule: &str| {
            version.is_some()
                && catalogue::rule(rule).is_some_and(|rule| {
                    rule.is_measured || rule.breaks.iter().any(|broken| broken.client == name)
                })
        };
        let unmeasured = found.iter().filter(|rule| captures == 0 && !is_measured(rule));
        let unmeasured: Vec<String> = unmeasured.map(|rule| (*rule).to_owned()).collect();
        let state = match (captures, version) {
            (1.., _) => ClientState::Broken,
            (0, Some(_)) if unmeasured.is_empty() => ClientState::NotAffected,
            (0, _) => ClientState::NotMeasured,
        };
        let broken = |(rule, captures): (&str, u64)| Broken {
            rule: rule.to_owned(),
            failure: failure(rule, name),
            captures,
        };
        let mut rules: Vec<Broken> = rules.into_iter().map(broken).collect();
        rules.sort_by_key(|broken| Reverse(broken.captures));
        Self {
            name: name.to_owned(),
            version: version.map(str::to_owned),
            state,
            captures,
            unmeasured,
            rules,
        }
    }
}

/// Returns the clients that a finding breaks, each with its rule.
fn clients_by_rule(finding: &Finding) -> impl Iterator<Item = (&'static str, &str)> {
    let breaks = catalogue::rule(&finding.rule).map(|rule| rule.breaks).unwrap_or_default();
    let clients = breaks.iter().map(|broken| broken.client).filter(|client| !finding.spares(client));
    clients.map(|client| (client, finding.rule.as_ref()))
}

/// Returns the failure of a client when a rule is broken.
fn failure(rule: &str, client: &str) -> String {
    let clients = catalogue::rule(rule).map(Rule::broken_clients).unwrap_or_default();
    clients.into_iter().find(|(name, _)| *name == client).map(|(_, failures)| failures).unwrap_or_default()
}
