//! Merging of reports: of recordings, or of the shards of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use catalogue::SCENARIOS;
use checker::{RuleSets, Rules};

use super::case::CaseReport;
use super::exercised::Exercised;
use super::judgement::Verdict;
use super::live::{LiveReport, State};
use super::options::Options;
use super::profile::{ProfileReport, ProfileState, Reason};
use super::shard::Shard;
use super::transport::Transport;
use super::{AUTO, CaptureReport, LevelChange, Run};

/// Why reports cannot be merged, with the index of the first one that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmergeable {
    /// There are no reports.
    None,
    /// A report of an endpoint among reports of recordings, or the reverse.
    Kind(usize),
    /// A report of an endpoint that is not a shard of a run.
    Whole(usize),
    /// Its endpoint or model differs from that of the first report.
    Target(usize),
    /// Its options differ from those of the first report.
    Options(usize),
    /// It is a shard of a run with another number of shards.
    Shards(usize),
    /// Its shard is that of an earlier report.
    Twice(usize),
    /// A shard without a report.
    Missing(Shard),
    /// Its dialect differs from that of the first report.
    Dialect(usize),
    /// Its version of the suite differs from this one.
    Suite(usize),
    /// Its rules differ from those of the first report.
    Rules(usize),
    /// Its levels of rules differ from those of the first report.
    Levels(usize),
    /// It fails on other findings than the first report.
    FailOn(usize),
}

impl Unmergeable {
    /// Returns the index of the report.
    pub const fn at(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Missing(_) => usize::MAX,
            Self::Kind(at)
            | Self::Whole(at)
            | Self::Target(at)
            | Self::Options(at)
            | Self::Shards(at)
            | Self::Twice(at)
            | Self::Dialect(at)
            | Self::Suite(at)
            | Self::Rules(at)
            | Self::Levels(at)
            | Self::FailOn(at) => *at,
        }
    }
}

impl fmt::Display for Unmergeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "there are no reports to merge",
            Self::Kind(_) => "reports of recordings and of an endpoint cannot be merged",
            Self::Whole(_) => {
                "it is a whole run against an endpoint; only the parts of a run, made with --shard, can be merged"
            }
            Self::Target(_) => "its endpoint or model differs from that of the first report",
            Self::Options(_) => "its options differ from those of the first report",
            Self::Shards(_) => "its run has another number of shards than that of the first report",
            Self::Twice(_) => "an earlier report is of the same shard",
            Self::Missing(shard) => return write!(f, "the report of shard {shard} is missing"),
            Self::Dialect(_) => "its dialect differs from that of the first report",
            Self::Suite(_) => "its version of the suite differs from that of the first report",
            Self::Rules(_) => "its rules differ from those of the first report",
            Self::Levels(_) => "its levels of rules differ from those of the first report (--rule)",
            Self::FailOn(_) => "it fails on other findings than the first report (--fail-on)",
        })
    }
}

impl std::error::Error for Unmergeable {}

impl Run {
    /// Merges reports of recordings into the report of one run over all of them, in this order; or the reports of all
    /// shards of a run into that of the run.
    pub fn merge(runs: Vec<Self>) -> Result<Self, Unmergeable> {
        let first = runs.first().ok_or(Unmergeable::None)?;
        if first.dialect == AUTO {
            return merge_recognised(runs);
        }
        let dialect = spec::dialect(&first.dialect).ok_or(Unmergeable::Suite(0))?;
        let listed: Vec<String> = first.rules.iter().map(|rule| rule.id.clone()).collect();
        let rules = Rules::with_levels(dialect, &LevelChange::by_rule(&first.levels)).only(|rule| {
            listed.iter().chain(first.levels.iter().map(|change| &change.rule)).any(|id| id == rule.id)
        });
        let (levels, fail_on) = (first.levels.clone(), first.fail_on);
        for (at, run) in runs.iter().enumerate() {
            if run.live.is_some() != first.live.is_some() {
                return Err(Unmergeable::Kind(at));
            }
            if run.suite != env!("CARGO_PKG_VERSION") {
                return Err(Unmergeable::Suite(at));
            }
            if run.dialect != dialect.name {
                return Err(Unmergeable::Dialect(at));
            }
            if run.fail_on != fail_on {
                return Err(Unmergeable::FailOn(at));
            }
            if run.levels != levels {
                return Err(Unmergeable::Levels(at));
            }
            if !run.rules.iter().map(|rule| &rule.id).eq(&listed) {
                return Err(Unmergeable::Rules(at));
            }
        }
        if first.live.is_some() {
            return merge_shards(&rules, runs);
        }
        let passed_over = runs.iter().map(|run| run.passed_over).sum();
        let exercised = Exercised::merged(&runs);
        let captures = runs.into_iter().flat_map(|run| run.captures).collect();
        let mut merged = Self::of_recordings(&rules, captures, fail_on);
        merged.exercised = exercised;
        merged.passed_over = passed_over;
        Ok(merged)
    }
}

/// Merges reports of recordings whose dialects were recognised. They need not be the same in all reports.
fn merge_recognised(runs: Vec<Run>) -> Result<Run, Unmergeable> {
    let first = runs.first().ok_or(Unmergeable::None)?;
    let fail_on = first.fail_on;
    for (at, run) in runs.iter().enumerate() {
        if run.live.is_some() {
            return Err(Unmergeable::Kind(at));
        }
        if run.suite != env!("CARGO_PKG_VERSION") {
            return Err(Unmergeable::Suite(at));
        }
        if run.dialect != AUTO {
            return Err(Unmergeable::Dialect(at));
        }
        if run.fail_on != fail_on {
            return Err(Unmergeable::FailOn(at));
        }
        // What either of them chose makes the rules of both.
        let both = chosen(&[first, run]);
        if !has_levels_of(&both, first) || !has_levels_of(&both, run) {
            return Err(Unmergeable::Levels(at));
        }
        if !has_rules_of(&both, first) || !has_rules_of(&both, run) {
            return Err(Unmergeable::Rules(at));
        }
    }
    let sets = chosen(&runs.iter().collect::<Vec<_>>());
    let passed_over = runs.iter().map(|run| run.passed_over).sum();
    let exercised = Exercised::merged(&runs);
    let captures = runs.into_iter().flat_map(|run| run.captures).collect();
    let mut merged = Run::of_recognised(&sets, captures, fail_on);
    merged.exercised = exercised;
    merged.passed_over = passed_over;
    Ok(merged)
}

/// Returns the rules that are chosen in any of some reports, with the levels of these.
fn chosen(runs: &[&Run]) -> RuleSets {
    let levels = runs.iter().flat_map(|run| LevelChange::by_rule(&run.levels)).collect();
    let listed = |run: &&Run| {
        let changed = run.levels.iter().map(|change| change.rule.clone());
        run.rules.iter().map(|rule| rule.id.clone()).chain(changed).collect::<Vec<_>>()
    };
    let listed: BTreeSet<String> = runs.iter().flat_map(listed).collect();
    RuleSets::new(levels, move |rule| listed.contains(rule.id))
}

/// Returns whether the levels of a report are those of its dialects in these sets.
fn has_levels_of(sets: &RuleSets, run: &Run) -> bool {
    LevelChange::of_several(&run.rules_in(sets)) == run.levels
}

/// Returns whether the rules of a report are those of its dialects in these sets.
fn has_rules_of(sets: &RuleSets, run: &Run) -> bool {
    let ids: BTreeSet<&str> =
        run.rules_in(sets).iter().flat_map(|rules| rules.iter()).map(|rule| rule.id).collect();
    ids.into_iter().eq(run.rules.iter().map(|rule| rule.id.as_str()))
}

/// Merges the shards of a run.
fn merge_shards(rules: &Rules, runs: Vec<Run>) -> Result<Run, Unmergeable> {
    let exercised = Exercised::merged(&runs);
    let mut shards: Vec<LiveReport> = Vec::new();
    let mut captures: Vec<CaptureReport> = Vec::new();
    for (at, run) in runs.into_iter().enumerate() {
        let Some(mut live) = run.live else { return Err(Unmergeable::Kind(at)) };
        let shard = live.options.filters.shard.ok_or(Unmergeable::Whole(at))?;
        if let Some(first) = shards.first() {
            let of = first.options.filters.shard.map(|first| first.of);
            // A reference gateway is started for each shard, at another address.
            let is_other = live.target != first.target && !(live.is_reference && first.is_reference);
            if is_other || live.model != first.model {
                return Err(Unmergeable::Target(at));
            }
            if shared(&live) != shared(first) {
                return Err(Unmergeable::Options(at));
            }
            if of != Some(shard.of) {
                return Err(Unmergeable::Shards(at));
            }
        }
        if shards.iter().any(|earlier| earlier.options.filters.shard == Some(shard)) {
            return Err(Unmergeable::Twice(at));
        }
        for attempt in live.cases.iter_mut().flat_map(|case| &mut case.attempts) {
            *attempt += captures.len();
        }
        // The recordings stay in the folders of the shards.
        captures.extend(run.captures.into_iter().map(|mut capture| {
            capture.name = capture.path().into_owned();
            capture.folder = None;
            capture
        }));
        shards.push(live);
    }
    let of = shards.first().and_then(|first| first.options.filters.shard).map_or(0, |shard| shard.of);
    let all = (1..=of).map(|number| Shard { number, of });
    for shard in all {
        if shards.iter().all(|live| live.options.filters.shard != Some(shard)) {
            return Err(Unmergeable::Missing(shard));
        }
    }
    let live = merged(shards).ok_or(Unmergeable::None)?;
    Ok(Run { exercised, ..Run::new(rules, captures, Some(live)) })
}

/// Returns the options that the shards of a run share.
fn shared(live: &LiveReport) -> Options {
    let mut options = live.options.clone();
    (options.began, options.took_ms, options.filters.shard) = (None, None, None);
    if live.is_reference {
        options.given.clear();
    }
    options
}

/// Returns the report of the run with these shards.
fn merged(shards: Vec<LiveReport>) -> Option<LiveReport> {
    let first = shards.first()?;
    let mut options = shared(first);
    options.began = shards.iter().filter_map(|live| live.options.began.clone()).min();
    options.took_ms = shards.iter().filter_map(|live| live.options.took_ms).max();
    let states = [State::Begun, State::Interrupted];
    let state = states.into_iter().find(|state| shards.iter().any(|live| live.state == *state));
    let mut live = LiveReport {
        options,
        state: state.unwrap_or(State::Finished),
        command: String::new(),
        profiles: first.profiles.iter().map(|profile| merged_profile(profile, &shards)).collect(),
        cases: Vec::new(),
        latency: Vec::new(),
        stale: Vec::new(),
        ..first.clone()
    };
    for shard in shards {
        live.cases.extend(shard.cases);
        live.latency.extend(shard.latency);
        live.stale.extend(shard.stale);
    }
    let place = |case: &CaseReport| {
        let scenario = Transport::scenario(&case.name);
        SCENARIOS.iter().position(|known| known.id == scenario)
    };
    // The sort is stable: the transports of a scenario keep their order.
    live.cases.sort_by_key(place);
    Some(live)
}

/// Returns the result of a profile: a requirement is met if a shard meets it and none fails it.
fn merged_profile(profile: &ProfileReport, shards: &[LiveReport]) -> ProfileReport {
    let of_shards = || shards.iter().flat_map(|live| &live.profiles).filter(|of| of.name == profile.name);
    let mut merged = ProfileReport { reasons: Vec::new(), ..profile.clone() };
    let mut reasons: BTreeMap<(u8, &str), Vec<&Reason>> = BTreeMap::new();
    for of_shard in of_shards() {
        let mut here: BTreeMap<(u8, &str), &Reason> = BTreeMap::new();
        for reason in &of_shard.reasons {
            let worst = here.entry((reason.demand as u8, &reason.name)).or_insert(reason);
            if reason.verdict == Verdict::Fail {
                *worst = reason;
            }
        }
        for (key, reason) in here {
            reasons.entry(key).or_default().push(reason);
        }
    }
    let count = of_shards().count();
    for ((_, name), given) in reasons {
        let failed = given.iter().find(|reason| reason.verdict == Verdict::Fail);
        // A reason without a name is about the whole run.
        let is_unmet = failed.is_some() || given.len() == count || name.is_empty();
        // The shard that sent it knows more than those that did not.
        let told = failed.or_else(|| given.iter().max_by_key(|reason| reason.exchanges.len()));
        merged.reasons.extend(told.filter(|_| is_unmet).map(|reason| (*reason).clone()));
    }
    match profile.state {
        ProfileState::NotApplicable => merged,
        _ => merged.decided(),
    }
}
