//! Totals of a run by level, rule and client.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::{CLIENTS, Client, Level, Rule, RuleInApi};
use serde::{Deserialize, Serialize};

use super::capture::CaptureReport;
use super::faults::Faults;
use super::tally::Tally;
use checker::{Effect, Finding, LevelName, Rules, Unmeasured};

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

/// A checked rule, and its number of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RuleTotal {
    /// The rule, `group/name`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its level in this run: that of the dialect, unless the reader changed it; the strictest, if several dialects have
    /// it.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Its authority; with the name of the API before each, if the run has several that differ.
    pub authority: String,
    /// The APIs of the run that it judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apis: Vec<String>,
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
    /// Returns the rule in each of the APIs of the run.
    pub fn in_apis(&self, rule: &Rule) -> Vec<&'static RuleInApi> {
        if self.apis.is_empty() {
            vec![rule.in_api("")]
        } else {
            self.apis.iter().map(|api| rule.in_api(api)).collect()
        }
    }

    /// Returns what the rule has in the APIs of the run; with the name of the API before each, if they differ.
    pub fn of_apis(&self, what: impl Fn(&RuleInApi) -> String) -> Vec<String> {
        let Some(rule) = catalogue::rule(&self.id) else { return Vec::new() };
        let all: Vec<(&str, String)> = self.in_apis(rule).iter().map(|own| (own.api, what(own))).collect();
        match all.as_slice() {
            [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => vec![first.clone()],
            _ => {
                let title =
                    |name| spec::APIS.iter().find(|api| api.name == name).map_or(name, |api| api.title);
                all.iter().map(|(api, text)| format!("{}: {text}", title(api))).collect()
            }
        }
    }

    /// Returns all checked rules, in the order of the catalogue.
    pub fn all(rules: &[&Rules], captures: &[CaptureReport]) -> Vec<Self> {
        let mut totals: BTreeMap<&str, Self> = BTreeMap::new();
        for (rules, rule) in rules.iter().flat_map(|rules| rules.iter().map(move |rule| (rules, rule))) {
            let level = rules.level(rule);
            let total = totals.entry(rule.id).or_insert_with(|| Self {
                id: rule.id.to_owned(),
                title: rule.title.to_owned(),
                level,
                authority: String::new(),
                apis: Vec::new(),
                worst: Level::Off,
                times: 0,
                captures: 0,
                first: None,
            });
            total.level = total.level.max(level);
            let api = rules.dialect().api.name;
            if total.apis.iter().all(|known| known != api) {
                total.apis.push(api.to_owned());
            }
        }
        for total in totals.values_mut() {
            let authorities = total.of_apis(|own| own.citation.to_string());
            total.authority = authorities.join("; ");
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
    /// It was measured with each kind of these findings, and reads the streams.
    NotAffected,
    /// It was not measured with some of these findings.
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
    /// Why its state is not known, unless a recording breaks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<Unknown>,
    /// The broken rules, most frequent first.
    pub rules: Vec<Broken>,
}

/// Findings that a client was not measured with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unknown {
    /// Why it was not measured.
    pub reason: Unmeasured,
    /// The rules of the findings.
    pub rules: Vec<String>,
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

/// What the effects of a finding depend on: its API, its kind, and the dialects in which it is none.
type Kind<'f> = (&'f str, String, &'f [Cow<'f, str>]);

impl ClientTotal {
    /// Returns all known clients of some APIs.
    pub fn all(captures: &[CaptureReport], apis: &[&str]) -> Vec<Self> {
        let mut totals: Vec<Found<'_>> = CLIENTS.iter().map(|_| Found::default()).collect();
        // Many findings are of few kinds.
        let mut known: BTreeMap<Kind<'_>, Vec<Effect>> = BTreeMap::new();
        for capture in captures {
            let mut here = BTreeSet::new();
            for finding in &capture.findings {
                let kind = (&*finding.api, finding.kind(), &*finding.fine_in);
                let effects = known.entry(kind).or_insert_with(|| finding.effects());
                let clients = CLIENTS.iter().enumerate().zip(totals.iter_mut().zip(effects));
                for ((at, _), (total, effect)) in
                    clients.filter(|((_, client), _)| client.is_of(&finding.api))
                {
                    let is_first = |rule| here.insert((at, rule));
                    total.add(finding, effect, is_first);
                }
            }
            let broken: BTreeSet<usize> = here.iter().map(|(at, _)| *at).collect();
            for (at, total) in totals.iter_mut().enumerate() {
                total.captures += u64::from(broken.contains(&at));
                if capture.omitted > 0 {
                    total.unmeasured.entry(Unmeasured::NotListed).or_default();
                }
            }
        }
        // Findings in streams of one API say nothing about clients of another.
        let findings = || captures.iter().flat_map(|capture| &capture.findings);
        let has_any = findings().next().is_some();
        let found: BTreeSet<&str> = findings().map(|finding| &*finding.api).collect();
        let is_meant = |api: &&str| !has_any || found.contains(*api) || found.contains("");
        let apis: Vec<&str> = apis.iter().copied().filter(is_meant).collect();
        let mut totals: Vec<Self> = CLIENTS
            .iter()
            .zip(totals)
            .filter(|(client, _)| apis.iter().any(|api| client.is_of(api)))
            .map(|(client, found)| Self::of(client, found))
            .collect();
        // The sort is stable: equal clients stay in the order of names.
        totals.sort_by(|one, other| one.name.cmp(&other.name));
        totals.sort_by_key(|client| (client.state, Reverse(client.captures)));
        totals
    }

    fn of(client: &Client, found: Found<'_>) -> Self {
        let Found { captures, rules, mut unmeasured, noted, has_more_than_notes } = found;
        if !has_more_than_notes {
            unmeasured.extend(noted);
        }
        if client.version.is_none() {
            unmeasured.entry(Unmeasured::OnlyReports).or_default();
        }
        let state = match (captures, unmeasured.is_empty()) {
            (1.., _) => ClientState::Broken,
            (0, true) => ClientState::NotAffected,
            (0, false) => ClientState::NotMeasured,
        };
        let names = |rules: BTreeSet<&str>| rules.into_iter().map(str::to_owned).collect();
        let unmeasured = unmeasured.into_iter().filter(|_| captures == 0);
        let unmeasured = unmeasured.map(|(reason, rules)| Unknown { reason, rules: names(rules) }).collect();
        let broken = |(rule, (failure, captures)): (&str, (String, u64))| Broken {
            rule: rule.to_owned(),
            failure,
            captures,
        };
        let mut rules: Vec<Broken> = rules.into_iter().map(broken).collect();
        rules.sort_by_key(|broken| Reverse(broken.captures));
        Self {
            name: client.name.to_owned(),
            version: client.version.map(str::to_owned),
            state,
            captures,
            unmeasured,
            rules,
        }
    }
}

/// What recordings show of a client.
#[derive(Debug, Default)]
struct Found<'f> {
    captures: u64,
    /// The rules that break it, each with its failure and the number of recordings.
    rules: BTreeMap<&'f str, (String, u64)>,
    /// The rules that it was not measured with, by reason.
    unmeasured: BTreeMap<Unmeasured, BTreeSet<&'f str>>,
    /// Those of them that are only noted. They leave what is known of the other findings, if there are any.
    noted: BTreeMap<Unmeasured, BTreeSet<&'f str>>,
    has_more_than_notes: bool,
}

impl<'f> Found<'f> {
    /// Adds the effect of a finding. `is_first` returns whether the rule breaks the client for the first time in the recording.
    fn add(&mut self, finding: &'f Finding, effect: &Effect, mut is_first: impl FnMut(&'f str) -> bool) {
        let (rule, is_note) = (&*finding.rule, finding.level <= Level::May);
        self.has_more_than_notes |= !is_note;
        let failure = match effect {
            Effect::Breaks(failure) => failure.as_str(),
            Effect::IsReported(failure) => failure,
            Effect::IsRead => return,
            Effect::NotMeasured(reason) => {
                let known = if is_note { &mut self.noted } else { &mut self.unmeasured };
                known.entry(*reason).or_default().insert(rule);
                return;
            }
        };
        let (_, captures) = self.rules.entry(rule).or_insert_with(|| (failure.to_owned(), 0));
        *captures += u64::from(is_first(rule));
    }
}

#[cfg(test)]
mod tests {
    use checker::Checker;

    use super::*;

    /// Returns a finding with this level.
    fn finding(level: Level) -> Finding {
        let mut checker = Checker::new(spec::dialect("openai").unwrap());
        checker.push(b"data: [\n\n");
        checker.finish();
        Finding { level, ..checker.findings().first().unwrap().clone() }
    }

    fn state<'f>(all: &[(&'f Finding, &Effect)]) -> ClientState {
        let client = CLIENTS.iter().find(|client| client.version.is_some()).unwrap();
        let mut found: Found<'f> = Found::default();
        for (finding, effect) in all {
            found.add(finding, effect, |_| true);
        }
        ClientTotal::of(client, found).state
    }

    #[test]
    fn notes_void_nothing_beside_other_findings() {
        let (must, note) = (finding(Level::Must), finding(Level::May));
        let unknown = Effect::NotMeasured(Unmeasured::Kind);
        assert_eq!(state(&[(&must, &Effect::IsRead), (&note, &unknown)]), ClientState::NotAffected);
        assert_eq!(state(&[(&must, &unknown), (&note, &Effect::IsRead)]), ClientState::NotMeasured);
        assert_eq!(state(&[(&note, &unknown)]), ClientState::NotMeasured);
    }
}
