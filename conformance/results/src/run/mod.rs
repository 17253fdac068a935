//! The report of recordings, or of an endpoint.

mod capture;
mod case;
mod cause;
mod faults;
mod impact;
mod latency;
mod live;
mod matrix;
pub(crate) mod merge;
mod next;
mod obstacle;
mod options;
mod timeline;
mod totals;
mod trials;
mod twins;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use checker::{Finding, RuleSets, Rules};
use serde::{Deserialize, Serialize};
use spec::Dialect;

use crate::text::grouped;
use crate::{
    AUTO, Exercised, FailOn, LeftOut, LevelChange, Outcome, ProfileState, Step, Verdict, dialect_in_words,
    is_default,
};

pub use capture::{CaptureReport, DialectSeen, LogRows, Lost, UNKNOWN};
pub use case::{CaseReport, OTHER_RULES, TrialResult};
pub use cause::{Cause, Layer, cause_id, cause_message, starred};
pub use faults::Faults;
pub use impact::FailingClients;
pub use latency::{Latency, Spread};
pub use live::{LiveReport, RunState};
pub use matrix::{Matrix, MatrixColumn, MatrixRow};
pub use merge::Unmergeable;
pub use obstacle::Obstacle;
pub use options::{Filters, Options};
pub use timeline::{Bar, EventRow, FaultyEvent, Pace, Phase, Piece, RequestSummary, Silence, Timeline};
pub use totals::{Broken, ClientState, ClientTotal, RuleTotal, Totals, Unknown};
pub use trials::{GroupTotal, Undecided};
pub use twins::{TWINS_VERSION, TwinResult, TwinsReport};

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const VERSION: u32 = 2;

/// The result of checking recordings or an endpoint in one dialect, or recordings each in its own.
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
    /// The dialect; `auto` if each stream's was recognised: recordings and findings state theirs.
    pub dialect: String,
    /// The folder of the dialect, if it is not one of the suite: `sha256:` and the hash of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect_folder: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// The findings that fail the run. Reports without this member are of runs that failed on broken MUST rules.
    #[serde(default = "must")]
    pub fail_on: FailOn,
    /// Rules whose level is not the dialect's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelChange>,
    /// Totals of checks and findings.
    pub totals: Totals,
    /// The checked rules, with their numbers of findings.
    pub rules: Vec<RuleTotal>,
    /// Causes, in the order in which to mend them; those that follow from others come last.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// Known clients, those broken by most recordings first.
    pub clients: Vec<ClientTotal>,
    /// Clients to which responses were to be played, and were not, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_played: Vec<LeftOut>,
    /// Groups of scenarios with the results of their trials, if an endpoint was tested.
    pub groups: Vec<GroupTotal>,
    /// Results of profiles by group, if an endpoint was tested.
    #[serde(default)]
    pub matrix: Matrix,
    /// Trials without a verdict, by reason: harness errors first, then the most frequent.
    pub undecided: Vec<Undecided>,
    /// Suggested next steps.
    pub next: Vec<Step>,
    /// The endpoint and its trials, if one was tested.
    pub live: Option<LiveReport>,
    /// The part of the lifecycles of their dialects that its streams exercised, if that was observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exercised: Vec<Exercised>,
    /// Number of files in folders that were skipped because of their names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub passed_over: u64,
    /// Number of files in folders of `between` that were skipped: recordings of its own upstream, and of what follows from a
    /// fault of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scripted: u64,
    /// The checked recordings, in order.
    pub captures: Vec<CaptureReport>,
}

impl Run {
    /// Returns the result of checked recordings, with the trials of an endpoint if there was one.
    pub fn new(rules: &Rules, captures: Vec<CaptureReport>, live: Option<LiveReport>) -> Self {
        let fail_on = live.as_ref().map_or_else(FailOn::default, |live| live.options.fail_on());
        Self::of(rules.dialect().name, &[rules], captures, live, fail_on)
    }

    /// Returns the result of checked recordings, some of whose findings fail.
    pub fn of_recordings(rules: &Rules, captures: Vec<CaptureReport>, fail_on: FailOn) -> Self {
        Self::of(rules.dialect().name, &[rules], captures, None, fail_on)
    }

    /// Returns the result of recordings that were checked by the rules of the dialects that were recognised.
    pub fn of_recognised(sets: &RuleSets, captures: Vec<CaptureReport>, fail_on: FailOn) -> Self {
        let rules = rules_in(sets, &captures);
        let rules: Vec<&Rules> = rules.iter().map(|rules| &**rules).collect();
        Self::of(AUTO, &rules, captures, None, fail_on)
    }

    fn rules_in(&self, sets: &RuleSets) -> Vec<Arc<Rules>> {
        rules_in(sets, &self.captures)
    }

    fn of(
        dialect: &str,
        rules: &[&Rules],
        mut captures: Vec<CaptureReport>,
        live: Option<LiveReport>,
        fail_on: FailOn,
    ) -> Self {
        let (groups, undecided) = live.as_ref().map_or_else(Default::default, |live| {
            (GroupTotal::all(&live.cases), Undecided::all(&live.cases))
        });
        let sent = live.as_ref().map(|live| &*live.cases).unwrap_or_default();
        let dialects: Vec<&'static Dialect> = rules.iter().map(|rules| rules.dialect()).collect();
        let apis: Vec<&str> = dialects.iter().map(|dialect| dialect.api.name).collect();
        let causes = Cause::all(&mut captures, sent, &dialects, fail_on);
        let mut totals = Totals::of(&captures);
        for group in &groups {
            totals.trials.add(group.trials);
        }
        let mut run = Self {
            version: VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            dialect: dialect.to_owned(),
            dialect_folder: match *dialects {
                [only] => only.folder_hash(),
                _ => None,
            },
            outcome: outcome(&captures, live.as_ref(), fail_on),
            fail_on,
            levels: LevelChange::of_several(rules.iter().copied()),
            totals,
            rules: RuleTotal::all(rules, &captures),
            causes,
            // Without a response, nothing is known of clients.
            clients: if captures.iter().any(CaptureReport::has_responses) {
                ClientTotal::all(&captures, &apis)
            } else {
                Vec::new()
            },
            not_played: Vec::new(),
            groups,
            matrix: live.as_ref().map(|live| Matrix::of(live, &captures)).unwrap_or_default(),
            undecided,
            next: Vec::new(),
            live,
            exercised: Vec::new(),
            passed_over: 0,
            scripted: 0,
            captures,
        };
        run.next = next::next(&run);
        run
    }

    /// The dialect, and that it is not one of the suite, if so.
    pub fn dialect_in_words(&self) -> String {
        dialect_in_words(&self.dialect, self.dialect_folder.as_deref())
    }

    /// Returns the run with paths through the folder in which it is kept. In JSON, paths stay relative to it.
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

    /// Returns the recognised dialects by the number of streams and responses, each with the number of these and what
    /// shows it most often.
    pub fn recognised(&self) -> Vec<(&str, u64, &str)> {
        let mut all: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for seen in self.captures.iter().flat_map(|capture| &capture.dialects) {
            *all.entry(&seen.dialect).or_default().entry(&seen.by).or_default() += seen.responses;
        }
        let total = |(dialect, signs): (_, BTreeMap<_, u64>)| {
            let most = signs.iter().rev().max_by_key(|(_, count)| **count);
            (dialect, signs.values().sum(), most.map_or("", |(by, _)| *by))
        };
        let mut all: Vec<(&str, u64, &str)> = all.into_iter().map(total).collect();
        all.sort_by_key(|(_, count, _)| Reverse(*count));
        all
    }

    /// Returns the dialect by whose rules a finding was made.
    pub fn dialect_of<'r>(&'r self, finding: &'r Finding) -> &'r str {
        if finding.dialect.is_empty() { &self.dialect } else { &finding.dialect }
    }

    /// The file of a recording, unless it was not kept.
    pub fn file<'r>(&self, capture: &'r CaptureReport) -> Option<Cow<'r, str>> {
        let is_kept = self.live.is_none() || capture.folder.is_some();
        is_kept.then(|| capture.path())
    }

    /// The name of a recording for people: its file, or its exchange if it was not kept.
    pub fn name<'r>(&self, capture: &'r CaptureReport) -> Cow<'r, str> {
        let exchange = || capture.name.strip_prefix("exchanges/")?.strip_suffix(".exchange");
        self.file(capture).unwrap_or_else(|| Cow::Borrowed(exchange().unwrap_or(&capture.name)))
    }

    /// The causes that do not follow from another one: what a report lists.
    pub fn own_causes(&self) -> &[Cause] {
        let own = self.causes.partition_point(|cause| cause.follows_from.is_none());
        &self.causes[..own]
    }

    /// The causes that follow from one.
    pub fn effects<'r>(&'r self, cause: &'r Cause) -> impl Iterator<Item = &'r Cause> {
        let effects = self.causes.iter().skip(self.own_causes().len());
        effects.filter(|effect| effect.follows_from.as_ref() == Some(&cause.id))
    }

    /// Returns the rules of the causes that follow from one, with their numbers of occurrences.
    pub fn effects_by_rule<'r>(&'r self, cause: &'r Cause) -> Vec<(&'r str, u64)> {
        let effects = grouped(self.effects(cause).map(|effect| (effect.rule.as_str(), effect.times)));
        effects.into_iter().map(|(rule, times)| (rule, times.into_iter().sum())).collect()
    }

    /// Returns the number of the cause that lists a cause: its own, or the number of the one that it follows from.
    pub fn listed_as(&self, number: usize) -> usize {
        let origin = self.causes.get(number).and_then(|cause| cause.follows_from.as_ref());
        let place = origin.and_then(|id| self.causes.iter().position(|cause| cause.id == *id));
        place.unwrap_or(number)
    }

    /// Returns the first finding of a cause, and its recording.
    pub fn first_of(&self, cause: &Cause) -> Option<(&CaptureReport, &Finding)> {
        let [capture, finding] = cause.first;
        let capture = self.captures.get(capture)?;
        Some((capture, capture.findings.get(finding)?))
    }

    /// Returns the findings of rules that the profiles of the run do not demand: their numbers, and the rules, most frequent
    /// first.
    pub fn outside(&self) -> (Faults, Vec<&str>) {
        let (mut all, mut by_rule) = (Faults::default(), BTreeMap::<&str, u64>::new());
        for (rule, faults) in self.captures.iter().flat_map(|capture| &capture.outside) {
            all.join(*faults);
            *by_rule.entry(rule).or_default() += faults.all();
        }
        let mut rules: Vec<(&str, u64)> = by_rule.into_iter().collect();
        rules.sort_by_key(|(_, count)| Reverse(*count));
        (all, rules.into_iter().map(|(rule, _)| rule).collect())
    }

    /// Returns the number of findings that fail, by level.
    pub fn failing(&self) -> Faults {
        let mut failing = Faults::default();
        for capture in &self.captures {
            for finding in capture.findings.iter().filter(|finding| self.fail_on.fails(finding)) {
                failing.add(finding);
            }
        }
        failing
    }

    /// The broken rules, the worst first.
    pub fn broken(&self) -> Vec<&RuleTotal> {
        let mut rules: Vec<&RuleTotal> = self.rules.iter().filter(|rule| rule.times > 0).collect();
        // The sort is stable: equal rules stay in the order of names.
        rules.sort_by_key(|rule| Reverse((rule.worst, rule.captures, rule.times)));
        rules
    }

    /// Returns whether a rule fails the run.
    pub fn fails(&self, rule: &str) -> bool {
        self.causes.iter().any(|cause| cause.rule == rule && cause.fails.is_some())
    }

    /// The indices of the recordings, the worst first.
    pub fn worst_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.captures.len()).collect();
        order.sort_by_cached_key(|at| {
            let capture = &self.captures[*at];
            let Faults { errors, warnings, notes } = capture.faults();
            (Reverse(errors), capture.error.is_none(), Reverse(warnings), Reverse(notes))
        });
        order
    }

    /// Returns whether a recording could not be read, nothing was checked, or a trial could not be made.
    pub fn is_incomplete(&self) -> bool {
        is_incomplete(&self.captures, self.live.as_ref())
    }
}

/// Returns the dialects that were recognised in recordings, in the order of their names.
pub fn recognised_in(captures: &[CaptureReport]) -> Vec<&'static Dialect> {
    let is_seen = |dialect: &&Dialect| {
        captures.iter().flat_map(|capture| &capture.dialects).any(|seen| seen.dialect == dialect.name)
    };
    spec::DIALECTS.iter().copied().filter(is_seen).collect()
}

fn rules_in(sets: &RuleSets, captures: &[CaptureReport]) -> Vec<Arc<Rules>> {
    recognised_in(captures).into_iter().map(|dialect| sets.of(dialect)).collect()
}

/// Reports without the member failed on it.
const fn must() -> FailOn {
    FailOn::Must
}

/// A failure takes precedence over untested trials.
fn outcome(captures: &[CaptureReport], live: Option<&LiveReport>, fail_on: FailOn) -> Outcome {
    let has_unmet = |state| live.is_some_and(|live| live.unmet().any(|profile| profile.state == state));
    let has_failed = match live {
        Some(live) => live.has(Verdict::Fail) || !live.stale.is_empty() || has_unmet(ProfileState::Failed),
        None => captures.iter().any(|capture| capture.has_failed(fail_on)),
    };
    let is_unmet = live.is_some_and(|live| live.unmet().next().is_some());
    match (has_failed, is_incomplete(captures, live) || is_unmet) {
        (true, _) => Outcome::Failed,
        (false, true) => Outcome::Incomplete,
        (false, false) => Outcome::Passed,
    }
}

fn is_incomplete(captures: &[CaptureReport], live: Option<&LiveReport>) -> bool {
    match live {
        Some(live) => {
            live.has(Verdict::HarnessError) || live.obstacle.is_some() || live.state != RunState::Finished
        }
        // Without anything to check, nothing has passed.
        None => {
            captures.iter().any(|capture| capture.error.is_some())
                || captures.iter().all(CaptureReport::is_blank)
        }
    }
}
