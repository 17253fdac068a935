//! The results of a run against an endpoint, apart from those of its recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use catalogue::Level;
use checker::Finding;
use serde::{Deserialize, Serialize};

use super::Run;
use super::capture::CaptureReport;
use super::fail_on::FailOn;
use super::level::LevelChange;
use super::obstacle::Obstacle;
use super::profile::ProfileReport;
use super::shard::Shard;
use super::trials::Tally;

/// A run against an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LiveReport {
    /// The endpoint, without secrets.
    pub target: String,
    /// The name of the endpoint in the configuration, if it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// Whether it is the reference gateway, which is there for the run alone.
    #[serde(default)]
    pub is_reference: bool,
    /// The model that was asked for.
    pub model: String,
    /// The command that makes the run again, without secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// What was wanted, without secrets.
    pub options: Options,
    /// The state of the run.
    pub state: State,
    /// Why the run ended early, if the endpoint could not be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// What was asked, and what came of it.
    pub cases: Vec<CaseReport>,
    /// The results, by profile.
    #[serde(default)]
    pub profiles: Vec<ProfileReport>,
    /// How fast the streams were.
    #[serde(default)]
    pub latency: Vec<Latency>,
    /// Failures that were expected and are over, each with the reason why it cannot be expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
}

/// A scenario, or its twin, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CaseReport {
    /// Its name: that of the scenario, with `.json` behind it for the twin.
    pub name: String,
    /// What it asks for, in a line.
    pub title: String,
    /// The recordings of it, by their place among the captures.
    pub attempts: Vec<usize>,
    /// How many attempts did not bring what was requested, before one did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: usize,
    /// Its trials and what came of them.
    pub trials: Vec<TrialResult>,
}

/// The latency of the streams of a case. It has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Latency {
    /// The case.
    pub case: String,
    /// Number of streams.
    pub streams: usize,
    /// From the request to the first event.
    pub first_event: Spread,
    /// From an event to the next, when there were two.
    pub between_events: Option<Spread>,
    /// From the request to the last event.
    pub total: Spread,
}

/// Percentiles of times, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Median.
    pub p50_us: u32,
    /// 90th percentile.
    pub p90_us: u32,
    /// 99th percentile.
    pub p99_us: u32,
    /// Maximum.
    pub max_us: u32,
}

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Told"))]
pub struct TrialResult {
    /// The name of the trial.
    pub name: String,
    /// Its verdict and reason.
    #[serde(flatten)]
    pub judged: Judgement,
}

/// The verdict on a trial, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Judged"))]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, unless the trial passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The kind of the reason, if advice exists for that kind.
    #[serde(default, skip_serializing_if = "UndecidedKind::is_other")]
    pub kind: UndecidedKind,
    /// The reason without what its kind already states: the missing events, the flag to pass, or the feature.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// The kind of reason for which a trial could not be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedKind {
    /// The endpoint refuses the key.
    Auth,
    /// The quota of the account is exhausted.
    Quota,
    /// Requests come faster than the endpoint allows.
    Rate,
    /// The endpoint does not serve this region.
    Region,
    /// There was no connection, no response, or only that of a proxy.
    Network,
    /// The endpoint has no capacity.
    Overload,
    /// The endpoint does not have the model.
    Model,
    /// Nothing answers at the URL.
    Path,
    /// The endpoint did not send what the scenario asks for.
    NotElicited,
    /// The endpoint lacks the route of an optional operation.
    Unsupported,
    /// The run does not list a feature that the scenario needs.
    NotOffered,
    /// The scenario needs a resource that was not given.
    NotGiven,
    /// The trial of the response has the reason.
    Unanswered,
    /// Any other.
    #[default]
    Other,
}

impl UndecidedKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(super) const fn is_other(&self) -> bool {
        matches!(self, Self::Other)
    }

    /// Returns whether the endpoint could not be tested, which is no verdict about it.
    pub const fn is_obstacle(self) -> bool {
        !self.name().is_empty()
    }

    /// Returns the name of an obstacle; empty for other kinds.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::Rate => "rate",
            Self::Region => "region",
            Self::Network => "network",
            Self::Overload => "overload",
            Self::Model => "model",
            Self::Path => "path",
            Self::NotElicited
            | Self::Unsupported
            | Self::NotOffered
            | Self::NotGiven
            | Self::Unanswered
            | Self::Other => "",
        }
    }
}

/// How a trial ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The checked property holds.
    Pass,
    /// It does not.
    Fail,
    /// No response shows whether it holds.
    NotExercised,
    /// The suite could not test it, as there was no connection or no access.
    HarnessError,
}

impl Verdict {
    /// All verdicts, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Pass, Self::Fail, Self::NotExercised, Self::HarnessError];

    /// Returns the word for trials with this verdict.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "passed",
            Self::Fail => "failed",
            Self::NotExercised => "not exercised",
            Self::HarnessError => "harness error",
        }
    }

    /// Returns the level of a verdict, or `None` if it is good.
    pub const fn level(self) -> Option<Level> {
        match self {
            Self::Pass => None,
            Self::NotExercised => Some(Level::Should),
            Self::Fail | Self::HarnessError => Some(Level::Must),
        }
    }

    /// Returns a symbol for narrow columns.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Pass => "✓",
            Self::Fail => "✗",
            Self::NotExercised => "–",
            Self::HarnessError => "?",
        }
    }

    /// Returns the name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotExercised => "not exercised",
            Self::HarnessError => "harness error",
        }
    }
}

impl Judgement {
    /// The verdict of a passed trial.
    pub const PASS: Self = Self {
        verdict: Verdict::Pass,
        reason: String::new(),
        kind: UndecidedKind::Other,
        detail: String::new(),
    };

    /// Creates a verdict with its reason.
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self::undecided(verdict, UndecidedKind::Other, reason)
    }

    /// Creates a verdict with a reason of this kind.
    pub fn undecided(verdict: Verdict, kind: UndecidedKind, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into(), kind, detail: String::new() }
    }

    /// Adds the reason without what its kind already states.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verdict.name())?;
        if self.reason.is_empty() { Ok(()) } else { write!(f, " ({})", self.reason) }
    }
}

/// How requests are sent, and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// As requests of HTTP that are answered by streams of events.
    Sse,
    /// As requests of HTTP that are answered by one body of JSON.
    Json,
    /// As messages of a WebSocket.
    Websocket,
}

impl Transport {
    /// All transports.
    pub const ALL: [Self; 3] = [Self::Sse, Self::Json, Self::Websocket];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Json => "json",
            Self::Websocket => "websocket",
        }
    }

    /// Returns the suffix of the name of a case, which follows that of its scenario.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Sse => "",
            Self::Json => ".json",
            Self::Websocket => ".ws",
        }
    }

    /// Returns the name of the scenario of a case.
    pub fn scenario(case: &str) -> &str {
        let known = [Self::Json, Self::Websocket];
        known.iter().find_map(|transport| case.strip_suffix(transport.suffix())).unwrap_or(case)
    }
}

/// Suffix of the name of the trial for the rules of all groups without a separate trial.
pub const OTHER_RULES: &str = "other-rules";

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
    /// What the endpoint is said to offer; everything, when absent.
    pub features: Option<Vec<String>>,
    /// What the endpoint is said to lack.
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
    /// The rules with another level than that of the dialect.
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
    /// What the owner of the endpoint told, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub given: BTreeMap<String, String>,
    /// The names of the headers that were wanted with each request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// Whether authorities were trusted beside those of the system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_authorities: bool,
    /// Which of the tests were wanted.
    #[serde(default, skip_serializing_if = "Filters::are_none")]
    pub filters: Filters,
}

impl Options {
    /// Returns the findings that fail a trial.
    pub fn fail_on(&self) -> FailOn {
        self.fail_on.unwrap_or_else(|| FailOn::of_strict(self.strict.unwrap_or_default()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
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
    /// Only those of this part of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Filters {
    fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It was begun, and nothing is known of its end.
    Begun,
    /// The user ended it.
    Interrupted,
    /// It came to its end.
    Finished,
}

impl CaseReport {
    /// Returns the number of its trials by verdict.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for told in &self.trials {
            tally.count(told.judged.verdict);
        }
        tally
    }

    /// Returns its recordings.
    pub fn recordings<'r>(&'r self, run: &'r Run) -> impl Iterator<Item = &'r CaptureReport> {
        self.attempts.iter().filter_map(|at| run.captures.get(*at))
    }

    /// Returns the subject of a trial, from the suffix of its name: `answer`, a group of rules, or [`OTHER_RULES`].
    pub fn about<'t>(&self, trial: &'t TrialResult) -> &'t str {
        trial.name.rsplit("::").next().unwrap_or_default()
    }

    /// Returns the findings that fail a trial, each with its recording.
    pub fn findings<'r>(
        &'r self,
        trial: &'r TrialResult,
        run: &'r Run,
    ) -> impl Iterator<Item = (&'r CaptureReport, &'r Finding)> {
        let about = self.about(trial);
        let is_meant = move |finding: &Finding| {
            let group = finding.group();
            let is_other = || self.trials.iter().all(|trial| self.about(trial) != group);
            run.fail_on.fails(finding) && (about == group || about == OTHER_RULES && is_other())
        };
        self.recordings(run).flat_map(move |capture| {
            let findings = capture.findings.iter().filter(move |finding| is_meant(finding));
            findings.map(move |finding| (capture, finding))
        })
    }
}

impl LiveReport {
    /// Returns the features that the endpoint turned out not to support.
    pub fn unsupported(&self) -> BTreeSet<&'static str> {
        let is_unsupported = |told: &TrialResult| told.judged.kind == UndecidedKind::Unsupported;
        let cases = self.cases.iter().filter(|case| case.trials.iter().any(is_unsupported));
        // The suffix after the id of the scenario is the transport.
        let scenario = |case: &CaseReport| catalogue::scenario(case.name.split('.').next()?);
        cases.filter_map(|case| scenario(case)?.route_feature()).collect()
    }

    /// Returns whether anything is known about the endpoint.
    pub fn has_verdict(&self) -> bool {
        self.has(Verdict::Pass) || self.has(Verdict::Fail)
    }

    /// Returns whether a trial has this verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.cases.iter().flat_map(|case| &case.trials).any(|told| told.judged.verdict == verdict)
    }
}

impl TrialResult {
    /// Returns whether there is no result for the endpoint.
    pub fn is_harness_error(&self) -> bool {
        self.judged.verdict == Verdict::HarnessError
    }
}

impl LiveReport {
    /// Returns the latency of concurrent streams.
    pub fn crowds(&self) -> impl Iterator<Item = &Latency> {
        // Streams of other scenarios were sequential.
        let is_crowd = |latency: &&Latency| catalogue::group(&latency.case) == "crowd" && latency.streams > 1;
        self.latency.iter().filter(is_crowd)
    }
}

impl Latency {
    /// Returns the median as text, with the 99th percentile in parentheses.
    pub fn words(&self) -> String {
        let between = self.between_events.map(|spread| format!(", event to event {}", spread.words()));
        format!(
            "{} streams: first event {}{}, total {}",
            self.streams,
            self.first_event.words(),
            between.unwrap_or_default(),
            self.total.words()
        )
    }
}

impl Spread {
    fn words(&self) -> String {
        let ms = |us: u32| f64::from(us) / 1000.0;
        // No line break before a unit.
        format!("{:.1}\u{a0}ms\u{a0}({:.1})", ms(self.p50_us), ms(self.p99_us))
    }
}
