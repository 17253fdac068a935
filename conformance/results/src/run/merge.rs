//! Merging of reports: of recordings, or of the shards of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use catalogue::SCENARIOS;
use checker::{RuleSets, Rules};

use super::case::CaseReport;
use super::live::{LiveReport, RunState};
use super::options::Options;
use crate::{
    AUTO, CaptureReport, Exercised, LevelChange, ProfileReport, ProfileState, Reason, Run, Shard, Transport,
    Verdict,
};

/// Why reports cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmergeable {
    /// The index of the first report that does not fit, if it is one.
    pub at: Option<usize>,
    reason: String,
}

impl fmt::Display for Unmergeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unmergeable {}

impl Unmergeable {
    fn all(reason: impl Into<String>) -> Self {
        Self { at: None, reason: reason.into() }
    }
}

/// The first reason that holds for the report is the error.
pub(crate) fn refuse(at: usize, reasons: &[(bool, &str)]) -> Result<(), Unmergeable> {
    match reasons.iter().find(|(holds, _)| *holds) {
        Some((_, reason)) => Err(Unmergeable { at: Some(at), reason: (*reason).to_owned() }),
        None => Ok(()),
    }
}

const NONE: &str = "there are no reports to merge";
const KIND: &str = "reports of recordings and of an endpoint cannot be merged";
const SUITE: &str = "its version of the suite differs from that of the first report";
const DIALECT: &str = "its dialect differs from that of the first report";
const FAIL_ON: &str = "it fails on other findings than the first report (--fail-on)";
const LEVELS: &str = "its levels of rules differ from those of the first report (--rule)";
const RULES: &str = "its rules differ from those of the first report";
const WHOLE: &str = "it is a whole run; only the parts of a run, made with --shard, can be merged";

impl Run {
    /// Merges reports of recordings into the report of one run over all of them, in this order; or the reports of all
    /// shards of a run into one report.
    pub fn merge(runs: Vec<Self>) -> Result<Self, Unmergeable> {
        let first = runs.first().ok_or_else(|| Unmergeable::all(NONE))?;
        let (is_live, levels, fail_on) = (first.live.is_some(), first.levels.clone(), first.fail_on);
        let dialect = spec::dialect(&first.dialect);
        refuse(0, &[(dialect.is_none() && first.dialect != AUTO, SUITE)])?;
        for (at, run) in runs.iter().enumerate() {
            let reasons = [
                (run.live.is_some() != is_live, KIND),
                (run.suite != env!("CARGO_PKG_VERSION"), SUITE),
                (run.dialect != dialect.map_or(AUTO, |dialect| dialect.name), DIALECT),
                (run.fail_on != fail_on, FAIL_ON),
            ];
            refuse(at, &reasons)?;
            refuse(
                at,
                &if dialect.is_some() { differences(first, run) } else { differences_of_sets(first, run) },
            )?;
        }
        let Some(dialect) = dialect else {
            let sets = chosen(&runs.iter().collect::<Vec<_>>());
            return Ok(joined(runs, |captures| Self::of_recognised(&sets, captures, fail_on)));
        };
        let listed: BTreeSet<&str> = ids(first).chain(levels.iter().map(|change| &*change.rule)).collect();
        let rules =
            Rules::with_levels(dialect, &LevelChange::by_rule(&levels)).only(|rule| listed.contains(rule.id));
        if is_live {
            return merge_shards(&rules, runs);
        }
        Ok(joined(runs, |captures| Self::of_recordings(&rules, captures, fail_on)))
    }
}

fn joined(runs: Vec<Run>, result: impl FnOnce(Vec<CaptureReport>) -> Run) -> Run {
    let passed_over = runs.iter().map(|run| run.passed_over).sum();
    let scripted = runs.iter().map(|run| run.scripted).sum();
    let exercised = Exercised::merged(runs.iter().map(|run| &*run.exercised));
    let captures = runs.into_iter().flat_map(|run| run.captures).collect();
    Run { exercised, passed_over, scripted, ..result(captures) }
}

fn ids(run: &Run) -> impl Iterator<Item = &str> {
    run.rules.iter().map(|rule| rule.id.as_str())
}

/// For reports of one dialect.
fn differences(first: &Run, run: &Run) -> [(bool, &'static str); 2] {
    [(run.levels != first.levels, LEVELS), (!ids(run).eq(ids(first)), RULES)]
}

/// For reports whose dialects were recognised, which need not be the same: what either of them chose makes the rules of both.
fn differences_of_sets(first: &Run, run: &Run) -> [(bool, &'static str); 2] {
    let both = chosen(&[first, run]);
    let differ = |is_of: fn(&RuleSets, &Run) -> bool| !is_of(&both, first) || !is_of(&both, run);
    [(differ(has_levels_of), LEVELS), (differ(has_rules_of), RULES)]
}

fn chosen(runs: &[&Run]) -> RuleSets {
    let levels = runs.iter().flat_map(|run| LevelChange::by_rule(&run.levels)).collect();
    let listed = |run: &&Run| {
        let changed = run.levels.iter().map(|change| change.rule.clone());
        run.rules.iter().map(|rule| rule.id.clone()).chain(changed).collect::<Vec<_>>()
    };
    let listed: BTreeSet<String> = runs.iter().flat_map(listed).collect();
    RuleSets::new(levels, move |rule| listed.contains(rule.id))
}

fn has_levels_of(sets: &RuleSets, run: &Run) -> bool {
    LevelChange::of_several(run.rules_in(sets).iter().map(Arc::as_ref)) == run.levels
}

fn has_rules_of(sets: &RuleSets, run: &Run) -> bool {
    let own: BTreeSet<&str> =
        run.rules_in(sets).iter().flat_map(|rules| rules.iter()).map(|rule| rule.id).collect();
    own.into_iter().eq(ids(run))
}

pub(crate) fn check_shards(shards: &[Option<Shard>]) -> Result<(), Unmergeable> {
    let mut of = None;
    for (at, shard) in shards.iter().enumerate() {
        let own = shard.map(|shard| shard.of);
        let reasons = [
            (shard.is_none(), WHOLE),
            (
                own != *of.get_or_insert(own),
                "its run has another number of shards than that of the first report",
            ),
            (shards[..at].contains(shard), "an earlier report is of the same shard"),
        ];
        refuse(at, &reasons)?;
    }
    let of = of.flatten().ok_or_else(|| Unmergeable::all(NONE))?;
    match (1..=of).map(|number| Shard { number, of }).find(|shard| !shards.contains(&Some(*shard))) {
        Some(shard) => Err(Unmergeable::all(format!("the report of shard {shard} is missing"))),
        None => Ok(()),
    }
}

fn merge_shards(rules: &Rules, runs: Vec<Run>) -> Result<Run, Unmergeable> {
    let of_run = |run: &Run| run.live.as_ref().and_then(|live| live.options.filters.shard);
    check_shards(&runs.iter().map(of_run).collect::<Vec<_>>())?;
    let exercised = Exercised::merged(runs.iter().map(|run| &*run.exercised));
    let mut shards: Vec<LiveReport> = Vec::new();
    let mut captures: Vec<CaptureReport> = Vec::new();
    for (at, run) in runs.into_iter().enumerate() {
        let Some(mut live) = run.live else { continue };
        if let Some(first) = shards.first() {
            // A reference gateway is started for each shard, at another address.
            let is_other = live.target != first.target && !(live.is_reference && first.is_reference);
            let reasons = [
                (
                    is_other || live.model != first.model,
                    "its endpoint or model differs from that of the first report",
                ),
                (shared(&live) != shared(first), "its options differ from those of the first report"),
            ];
            refuse(at, &reasons)?;
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
    let live = merged(shards).ok_or_else(|| Unmergeable::all(NONE))?;
    Ok(Run { exercised, ..Run::new(rules, captures, Some(live)) })
}

fn shared(live: &LiveReport) -> Options {
    let mut options = live.options.clone();
    (options.began, options.took_ms, options.filters.shard) = (None, None, None);
    if live.is_reference {
        options.given.clear();
    }
    options
}

fn merged(shards: Vec<LiveReport>) -> Option<LiveReport> {
    let first = shards.first()?;
    let mut options = shared(first);
    options.began = shards.iter().filter_map(|live| live.options.began.clone()).min();
    options.took_ms = shards.iter().filter_map(|live| live.options.took_ms).max();
    let states = [RunState::Begun, RunState::Interrupted];
    let state = states.into_iter().find(|state| shards.iter().any(|live| live.state == *state));
    let of_shards: Vec<&[ProfileReport]> = shards.iter().map(|live| &*live.profiles).collect();
    let mut live = LiveReport {
        options,
        state: state.unwrap_or(RunState::Finished),
        command: String::new(),
        profiles: first.profiles.iter().map(|profile| merged_profile(profile, &of_shards)).collect(),
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

/// A requirement is met if a shard meets it and none fails it.
pub(crate) fn merged_profile(profile: &ProfileReport, shards: &[&[ProfileReport]]) -> ProfileReport {
    let of_shards = || shards.iter().copied().flatten().filter(|of| of.name == profile.name);
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
