//! The one document that all reports are made from.

mod capture;
mod cause;
mod client;
mod format;
mod impact;
mod live;
mod matrix;
mod merge;
mod next;
mod profile;
mod shell;
pub mod text;
mod timeline;
mod totals;
mod trials;

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use capture::{CaptureReport, Lost};
pub use cause::{Cause, starred};
pub use checker::{Excerpt, Finding, LevelName, Location, Related};
pub use client::{
    CLIENT_RUN_VERSION, ClientCaseReport, ClientOutcome, ClientRun, ClientTally, RequestProblem,
};
pub use format::Format;
pub use impact::FailingClients;
pub use live::{
    CaseReport, Filters, Judged, Latency, LiveReport, OTHER_RULES, Options, Spread, State, Told, Transport,
    UndecidedKind, Verdict,
};
pub use matrix::{Matrix, MatrixColumn, MatrixRow};
pub use merge::Unmergeable;
pub use next::Step;
pub use profile::{Demand, ProfileReport, ProfileState, Reason, Specification};
pub use shell::shell_word;
pub use timeline::{Asked, Bar, EventRow, FaultyEvent, Pace, Phase, Piece, Silence, Timeline};
pub use totals::{Broken, ClientState, ClientTotal, Faults, RuleTotal, Totals};
pub use trials::{GroupTotal, Tally, Undecided};

use checker::Rules;

/// The version of the format. It rises when a member goes away or changes its meaning.
pub const VERSION: u32 = 2;

/// What came of checking recordings, or an endpoint, in one dialect.
///
/// It is written as `report.json`, read again from there, and is all that any report knows. Texts in it
/// may come from a hostile endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Run {
    /// Version of this format.
    pub version: u32,
    /// Version of the suite.
    pub suite: String,
    /// The dialect that was checked against.
    pub dialect: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How much was checked, and how much of it is wrong.
    pub totals: Totals,
    /// The rules that were checked, and how often each is broken.
    pub rules: Vec<RuleTotal>,
    /// What is wrong, each cause once: those that break most clients first.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// The clients that something is known of, those that most recordings break first.
    pub clients: Vec<ClientTotal>,
    /// The groups of scenarios, and what came of their trials, when an endpoint was tested.
    pub groups: Vec<GroupTotal>,
    /// What profiles demand of each group, and what came of it, when an endpoint was tested.
    #[serde(default)]
    pub matrix: Matrix,
    /// What could not be found out of an endpoint, by the reason: harness errors first, then what most trials
    /// lack for.
    pub undecided: Vec<Undecided>,
    /// What to do next.
    pub next: Vec<Step>,
    /// The endpoint and its trials, when one was tested.
    pub live: Option<LiveReport>,
    /// How many files in folders were not opened, as their names are not those of recordings.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_over: u64,
    /// What was checked, in order.
    pub captures: Vec<CaptureReport>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing failed.
    Passed,
    /// A rule that binds is broken, or a trial failed.
    Failed,
    /// Something could not be found out.
    Incomplete,
}

impl Run {
    /// What recordings come to, and the trials of an endpoint where they are of one.
    pub fn new(rules: &Rules, captures: Vec<CaptureReport>, live: Option<LiveReport>) -> Self {
        let (groups, undecided) = live.as_ref().map_or_else(Default::default, |live| {
            (GroupTotal::all(&live.cases), Undecided::all(&live.cases))
        });
        let mut totals = Totals::of(&captures);
        for group in &groups {
            totals.trials.add(group.trials);
        }
        let mut run = Self {
            version: VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            dialect: rules.dialect().name.to_owned(),
            outcome: outcome(&captures, live.as_ref()),
            totals,
            rules: RuleTotal::all(rules, &captures),
            causes: Cause::all(&captures, live.as_ref().map(|live| &*live.cases).unwrap_or_default()),
            clients: ClientTotal::all(&captures),
            groups,
            matrix: live.as_ref().map(|live| Matrix::of(live, &captures)).unwrap_or_default(),
            undecided,
            next: Vec::new(),
            live,
            passed_over: 0,
            captures,
        };
        run.next = Step::all(&run);
        run
    }

    /// The same, told from outside the folder that it is kept in: the places of an endpoint's answers are paths
    /// through that folder, as it is given here. As JSON they stay as they are.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        if self.live.is_some() {
            let folder: Arc<Path> = folder.into();
            for capture in &mut self.captures {
                capture.folder = Some(Arc::clone(&folder));
            }
        }
        self
    }

    /// Where a rule is first broken.
    pub fn first(&self, rule: &RuleTotal) -> Option<(&CaptureReport, &Finding)> {
        let [capture, finding] = rule.first?;
        let capture = self.captures.get(capture)?;
        Some((capture, capture.findings.get(finding)?))
    }

    /// Returns the first finding of a cause, and its recording.
    pub fn first_of(&self, cause: &Cause) -> Option<(&CaptureReport, &Finding)> {
        let [capture, finding] = cause.first;
        let capture = self.captures.get(capture)?;
        Some((capture, capture.findings.get(finding)?))
    }

    /// The rules that are broken, the worst first.
    pub fn broken(&self) -> Vec<&RuleTotal> {
        let mut rules: Vec<&RuleTotal> = self.rules.iter().filter(|rule| rule.times > 0).collect();
        // The sort is stable: what is equal stays in the order of names.
        rules.sort_by_key(|rule| Reverse((rule.worst, rule.captures, rule.times)));
        rules
    }

    /// The recordings by their places, the worst first.
    pub fn worst_first(&self) -> Vec<usize> {
        let mut order: Vec<(usize, &CaptureReport)> = self.captures.iter().enumerate().collect();
        order.sort_by_cached_key(|(_, capture)| {
            let Faults { errors, warnings, notes } = capture.faults();
            (Reverse(errors), capture.error.is_none(), Reverse(warnings), Reverse(notes))
        });
        order.into_iter().map(|(at, _)| at).collect()
    }

    /// Whether a recording could not be read, nothing in all of them was judged, or a trial not be made.
    pub fn is_incomplete(&self) -> bool {
        is_incomplete(&self.captures, self.live.as_ref())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A failure is told before what could not be found out.
fn outcome(captures: &[CaptureReport], live: Option<&LiveReport>) -> Outcome {
    let has_failed = match live {
        Some(live) => live.has(Verdict::Fail) || !live.stale.is_empty(),
        None => captures.iter().any(CaptureReport::has_failed),
    };
    match (has_failed, is_incomplete(captures, live)) {
        (true, _) => Outcome::Failed,
        (false, true) => Outcome::Incomplete,
        (false, false) => Outcome::Passed,
    }
}

fn is_incomplete(captures: &[CaptureReport], live: Option<&LiveReport>) -> bool {
    match live {
        Some(live) => live.has(Verdict::HarnessError) || live.state != State::Finished,
        // Where there was nothing to judge, nothing has passed.
        None => {
            captures.iter().any(|capture| capture.error.is_some())
                || captures.iter().all(CaptureReport::is_blank)
        }
    }
}
