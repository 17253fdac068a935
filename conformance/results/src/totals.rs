//! A run as a whole: by level, by rule and by client.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::{CLIENTS, Level, Rule};
use serde::{Deserialize, Serialize};

use super::capture::CaptureReport;
use super::trials::Tally;
use checker::{Finding, LevelName, Rules};

/// How much was checked, and how much of it is wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Recordings.
    pub captures: u64,
    /// Streams with events.
    pub streams: u64,
    /// Events.
    pub events: u64,
    /// Answers that are no stream.
    pub bodies: u64,
    /// Answers that no rule reads.
    pub unjudged: u64,
    /// Recordings that could not be read, or not to their end.
    pub unread: u64,
    /// Connections that were lost.
    pub lost: u64,
    /// Faults of rules that bind.
    pub errors: u64,
    /// Faults of rules that should be kept.
    pub warnings: u64,
    /// Faults of rules that are worth a note.
    pub notes: u64,
    /// Faults beyond those that are listed.
    pub omitted: u64,
    /// Trials of an endpoint.
    pub trials: Tally,
}

impl Totals {
    /// Of all recordings.
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

    /// How often rules are broken.
    pub const fn faults(&self) -> Faults {
        Faults { errors: self.errors, warnings: self.warnings, notes: self.notes }
    }
}

/// How often rules are broken, by how binding they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Faults {
    /// Of rules that bind.
    pub errors: u64,
    /// Of rules that should be kept.
    pub warnings: u64,
    /// Of rules that are worth a note.
    pub notes: u64,
}

impl Faults {
    /// What there is of them, the worst first: how many, and what one is called.
    pub fn told(self) -> impl Iterator<Item = (u64, &'static str)> {
        let all = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        all.into_iter().filter(|(count, _)| *count > 0)
    }

    /// Those that are at least so binding.
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

/// A rule that was checked, and how often it is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RuleTotal {
    /// The rule, `group/name`.
    pub id: String,
    /// What must hold, in a line.
    pub title: String,
    /// How binding it is in the dialect.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Where that stands.
    pub authority: String,
    /// How binding the worst fault is that it found: some are less so than the rule, and what breaks a known client
    /// is a warning at least; off, without any.
    #[serde(with = "LevelName")]
    pub worst: Level,
    /// How often it is broken.
    pub times: u64,
    /// In how many recordings.
    pub captures: u64,
    /// The first place: which of the captures, and which of its findings.
    pub first: Option<[usize; 2]>,
}

impl RuleTotal {
    /// All that were checked, in the order of the catalogue.
    pub fn all(rules: &Rules, captures: &[CaptureReport]) -> Vec<Self> {
        let mut totals: BTreeMap<&str, Self> = BTreeMap::new();
        for rule in rules.iter() {
            totals.insert(
                rule.id,
                Self {
                    id: rule.id.to_owned(),
                    title: rule.title.to_owned(),
                    level: checker::level(rule, rules.dialect()),
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
                total.worst = total.worst.max(finding.severity());
                total.times += finding.count;
                total.captures += u64::from(here.insert(finding.rule.as_ref()));
                total.first = total.first.or(Some([of, at]));
            }
        }
        totals.into_values().collect()
    }
}

/// What a run means for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// A recording breaks it.
    Broken,
    /// It was tried with streams that break each of the rules that are broken here, and bears them.
    NotAffected,
    /// It was not tried with all of them.
    NotMeasured,
}

/// A client, and which recordings it fails on, by what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientTotal {
    /// The client.
    pub name: String,
    /// The version that was tested, and how it was called; `None` if it is known from reports only.
    #[serde(default)]
    pub version: Option<String>,
    /// What the run means for it.
    pub state: ClientState,
    /// How many recordings break it.
    pub captures: u64,
    /// The rules that are broken here and that it was not tried with, unless a recording breaks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<String>,
    /// Why, what is most frequent first.
    pub rules: Vec<Broken>,
}

/// A rule whose violation a client fails on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Broken {
    /// The rule.
    pub rule: String,
    /// What the client does then.
    pub failure: String,
    /// In how many recordings.
    pub captures: u64,
}

impl ClientTotal {
    /// All clients that something is known of.
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
        // The sort is stable: what is equal stays in the order of names.
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

/// The clients that a finding breaks, each with its rule.
fn clients_by_rule(finding: &Finding) -> impl Iterator<Item = (&'static str, &str)> {
    let breaks = catalogue::rule(&finding.rule).map(|rule| rule.breaks).unwrap_or_default();
    let clients = breaks.iter().map(|broken| broken.client).filter(|client| !finding.spares(client));
    clients.map(|client| (client, finding.rule.as_ref()))
}

/// What a client does when a rule is broken.
fn failure(rule: &str, client: &str) -> String {
    let clients = catalogue::rule(rule).map(Rule::broken_clients).unwrap_or_default();
    clients.into_iter().find(|(name, _)| *name == client).map(|(_, failures)| failures).unwrap_or_default()
}
