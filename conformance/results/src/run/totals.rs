//! Totals of a run by level, rule and client.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::{CLIENTS, Client, LOG_RULES, Level, Rule, RuleInApi, TestRule};
use serde::{Deserialize, Serialize};

use super::capture::CaptureReport;
use super::faults::Faults;
use crate::Tally;
use checker::{Effect, Finding, Harm, LevelName, Rules, Unmeasured};

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
    /// The totals of all recordings.
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

    /// The number of findings by level.
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
    /// Its level in this run: the dialect's, unless the reader changed it; the strictest, if several dialects have it.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Its authority; with the name of the API before each, if the run has several that differ.
    pub authority: String,
    /// The APIs of the run that it judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apis: Vec<String>,
    /// The worst level of its findings, which may be below the rule's; off without findings.
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

    fn new(id: &str, title: &str, level: Level) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            level,
            authority: String::new(),
            apis: Vec::new(),
            worst: Level::Off,
            times: 0,
            captures: 0,
            first: None,
        }
    }

    fn of_log(rule: &TestRule, level: Level) -> Self {
        Self { authority: rule.foundation(), ..Self::new(rule.id, rule.title, level) }
    }

    /// All checked rules, in the order of the catalogue.
    pub fn all(rules: &[&Rules], captures: &[CaptureReport]) -> Vec<Self> {
        let mut totals: BTreeMap<&str, Self> = BTreeMap::new();
        for (rules, rule) in rules.iter().flat_map(|rules| rules.iter().map(move |rule| (rules, rule))) {
            let level = rules.level(rule);
            let total = totals.entry(rule.id).or_insert_with(|| Self::new(rule.id, rule.title, level));
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
        if captures.iter().any(|capture| !capture.logs.is_empty()) {
            let of_logs = rules.first().map(|rules| rules.of_logs());
            totals.extend(LOG_RULES.iter().map(|rule| {
                let level = of_logs.and_then(|levels| levels.get(rule.id)).copied();
                (rule.id, Self::of_log(rule, level.unwrap_or(rule.level)))
            }));
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

/// The state of a client after a run: the worst of what is known of the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// It fails on a response.
    #[serde(alias = "broken")]
    Fails,
    /// It loses, mixes or invents something, hangs, or takes what broke off for the whole.
    Wrong,
    /// Users reported that such responses break it; it was not played any.
    ReportedBroken,
    /// It passes on what the server changed.
    PassesOn,
    /// It reports what broke off, and the errors of responses, as it should.
    Reports,
    /// It was measured with all of the findings, and returns the same as for intact responses.
    #[serde(alias = "not-affected")]
    Unaffected,
    /// It was not measured with some of the findings.
    NotMeasured,
}

impl ClientState {
    /// Returns whether the responses break the client.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Fails | Self::Wrong)
    }

    /// Returns it in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fails => "fails",
            Self::Wrong => "wrong",
            Self::ReportedBroken => "broken as users report, not played",
            Self::PassesOn => "passes on what the server changed",
            Self::Reports => "reports the error, as it should",
            Self::Unaffected => "unaffected (played with these findings)",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A client, and its failures on the recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientTotal {
    /// The client.
    pub name: String,
    /// The version that was played to; `None` if it is known only from reports.
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

/// The parts of findings that decide their effects: API, level, kind, and the dialects without the finding.
type Kinds<'f> = (&'f str, BTreeSet<(bool, String, &'f [Cow<'f, str>])>);

impl ClientTotal {
    /// All known clients of some APIs.
    pub fn all(captures: &[CaptureReport], apis: &[&str]) -> Vec<Self> {
        let mut totals: Vec<ClientSoFar> = CLIENTS.iter().map(|_| ClientSoFar::default()).collect();
        // Many findings are of few kinds.
        let mut known: BTreeMap<Kinds<'_>, Vec<Effect>> = BTreeMap::new();
        for capture in captures {
            let mut responses: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
            for finding in &capture.findings {
                let response = (&finding.api, &finding.exchange, finding.exchange_number);
                responses.entry(response).or_default().push(finding);
            }
            let (mut here, mut broken) = (BTreeSet::new(), BTreeSet::new());
            for ((api, ..), findings) in responses {
                let kinds = findings
                    .iter()
                    .map(|&found| (found.level <= Level::May, found.kind(), &*found.fine_in))
                    .collect();
                let effects = known.entry((&**api, kinds)).or_insert_with(|| checker::effects(&findings));
                let clients = CLIENTS.iter().zip(totals.iter_mut()).zip(effects.iter()).enumerate();
                for (at, ((_, total), effect)) in clients.filter(|(_, ((client, _), _))| client.is_of(api)) {
                    total.add(&findings, *effect, |rule| here.insert((at, rule)));
                    broken.extend(effect.failure().map(|_| at));
                }
            }
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

    fn of(client: &Client, found: ClientSoFar) -> Self {
        let ClientSoFar { state, captures, rules, mut unmeasured } = found;
        if client.version.is_none() {
            unmeasured.entry(Unmeasured::OnlyReports).or_default();
        } else if state.is_none() && unmeasured.is_empty() {
            unmeasured.entry(Unmeasured::NoFinding).or_default();
        }
        let is_said = |state: ClientState| state <= ClientState::ReportedBroken;
        let state = match state {
            Some(state) if is_said(state) || unmeasured.is_empty() => state,
            _ => ClientState::NotMeasured,
        };
        let unmeasured = unmeasured.into_iter().filter(|_| !is_said(state));
        let unmeasured = unmeasured
            .map(|(reason, rules)| Unknown { reason, rules: rules.into_iter().collect() })
            .collect();
        let mut rules: Vec<Broken> = rules
            .into_iter()
            .map(|(rule, (failure, captures))| Broken { rule: rule.to_owned(), failure, captures })
            .collect();
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

#[derive(Debug, Default)]
struct ClientSoFar {
    /// The worst that is known.
    state: Option<ClientState>,
    captures: u64,
    /// The rules that break it, each with its failure and the number of recordings.
    rules: BTreeMap<&'static str, (String, u64)>,
    /// The rules that it was not measured with, by reason.
    unmeasured: BTreeMap<Unmeasured, BTreeSet<String>>,
}

impl ClientSoFar {
    /// `is_first` returns whether the rule breaks the client for the first time in the recording.
    fn add(&mut self, findings: &[&Finding], effect: Effect, mut is_first: impl FnMut(&'static str) -> bool) {
        let mut blame = |harm: Harm| {
            let failure = effect.failure().unwrap_or_else(|| harm.detail.to_owned());
            let (_, captures) = self.rules.entry(harm.rule).or_insert((failure, 0));
            *captures += u64::from(is_first(harm.rule));
        };
        let state = match effect {
            Effect::Fails(harm) => {
                blame(harm);
                ClientState::Fails
            }
            Effect::Wrong(harm) => {
                blame(harm);
                ClientState::Wrong
            }
            Effect::PassesOn(_) => ClientState::PassesOn,
            Effect::Reports => ClientState::Reports,
            Effect::Unaffected => ClientState::Unaffected,
            Effect::IsReported(harm) => {
                blame(harm);
                ClientState::ReportedBroken
            }
            Effect::NotMeasured(reason) => {
                let rules = findings.iter().filter(|found| found.level > Level::May);
                let known = self.unmeasured.entry(reason).or_default();
                return known.extend(rules.map(|found| found.rule.to_string()));
            }
        };
        self.state = Some(self.state.map_or(state, |before| before.min(state)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(all: &[Effect]) -> ClientState {
        let client = CLIENTS.iter().find(|client| client.version.is_some()).unwrap();
        let mut found = ClientSoFar::default();
        for effect in all {
            found.add(&[], *effect, |_| true);
        }
        ClientTotal::of(client, found).state
    }

    #[test]
    fn the_worst_that_is_known_counts() {
        let wrong = Effect::Wrong(Harm { rule: "text/final", detail: "the text is empty" });
        let passes_on = Effect::PassesOn(Harm { rule: "text/final", detail: "" });
        let unknown = Effect::NotMeasured(Unmeasured::Kind);
        assert_eq!(state(&[Effect::Unaffected, unknown, wrong]), ClientState::Wrong);
        assert_eq!(state(&[Effect::Unaffected, unknown]), ClientState::NotMeasured);
        assert_eq!(state(&[Effect::Unaffected, passes_on, Effect::Reports]), ClientState::PassesOn);
        assert_eq!(state(&[Effect::Unaffected]), ClientState::Unaffected);
        assert_eq!(state(&[]), ClientState::NotMeasured);
    }
}
