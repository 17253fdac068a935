//! What differs between two runs.

mod human;
mod markdown;
mod unlike;

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Level;
use serde::{Deserialize, Serialize};

pub use human::human;
pub use markdown::markdown;

use results::{CaseReport, Outcome, RuleTotal, Run, Told, Verdict};

/// The version of the format. It rises when a member goes away or changes its meaning.
pub const VERSION: u32 = 1;

/// What differs between two runs in the same dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diff {
    /// Version of this format.
    pub version: u32,
    /// The dialect of both.
    pub dialect: String,
    /// The run before.
    pub before: Side,
    /// The run after.
    pub after: Side,
    /// How the runs differ in what was asked, in words: then much of what follows is no change of the endpoint.
    #[serde(default)]
    pub unlike: Vec<String>,
    /// Rules that are broken more than before.
    pub worse_rules: Vec<RuleChange>,
    /// Rules that are broken less than before.
    pub better_rules: Vec<RuleChange>,
    /// Rules that only one run checked.
    pub other_rules: Vec<RuleChange>,
    /// Trials that fail, and did not, or were not there.
    pub worse_trials: Vec<TrialChange>,
    /// Trials that failed, and pass.
    pub better_trials: Vec<TrialChange>,
    /// Trials of which something is known now.
    pub newly_exercised: Vec<TrialChange>,
    /// Trials of which nothing is known any more.
    pub no_longer_exercised: Vec<TrialChange>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Side {
    /// Version of the suite.
    pub suite: String,
    /// The endpoint, when one was tested.
    pub target: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// How many recordings it has.
    pub captures: u64,
}

/// A rule that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleChange {
    /// The rule.
    pub id: String,
    /// What it was; null when it was not checked.
    pub before: Option<RuleState>,
    /// What it is; null when it was not checked.
    pub after: Option<RuleState>,
}

/// How much a rule is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleState {
    /// How binding the worst fault is; off, without any.
    #[serde(with = "results::LevelName")]
    pub worst: Level,
    /// In how many recordings.
    pub captures: u64,
    /// How often.
    pub times: u64,
}

/// A trial that does not end as it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrialChange {
    /// Its name.
    pub name: String,
    /// How it ended; null when it was not there.
    pub before: Option<Verdict>,
    /// How it ends; null when it is not there.
    pub after: Option<Verdict>,
    /// Why.
    pub reason: String,
}

impl Diff {
    /// What differs from one run to the next.
    pub fn new(before: &Run, after: &Run) -> Self {
        let mut diff = Self {
            version: VERSION,
            dialect: after.dialect.clone(),
            before: Side::of(before),
            after: Side::of(after),
            unlike: unlike::unlike(before, after),
            worse_rules: Vec::new(),
            better_rules: Vec::new(),
            other_rules: Vec::new(),
            worse_trials: Vec::new(),
            better_trials: Vec::new(),
            newly_exercised: Vec::new(),
            no_longer_exercised: Vec::new(),
        };
        diff.compare_rules(before, after);
        diff.compare_trials(before, after);
        diff
    }

    /// Whether something is worse than it was.
    pub fn is_worse(&self) -> bool {
        !self.worse_rules.is_empty() || !self.worse_trials.is_empty()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        let rules = [&self.worse_rules, &self.better_rules, &self.other_rules];
        let trials =
            [&self.worse_trials, &self.better_trials, &self.newly_exercised, &self.no_longer_exercised];
        rules.iter().all(|rules| rules.is_empty()) && trials.iter().all(|trials| trials.is_empty())
    }

    fn compare_rules(&mut self, before: &Run, after: &Run) {
        // How often a model does something differs from run to run; trials say whether that matters.
        let counts = before.live.is_none() && after.live.is_none();
        let weight = |state: &RuleState| (state.worst, if counts { state.captures } else { 0 });
        let runs = [before, after];
        for (id, [before, after]) in pairs(&before.rules, &after.rules, |rule| &rule.id) {
            let before = before.map(RuleState::of);
            let after = after.filter(|_| is_checked(id, runs[0], runs[1])).map(RuleState::of);
            let list = match (&before, &after) {
                (Some(before), Some(after)) if weight(after) > weight(before) => &mut self.worse_rules,
                (Some(before), Some(after)) if weight(after) < weight(before) => &mut self.better_rules,
                // What was not checked cannot have got worse, but that it is broken should be seen.
                (None, Some(known)) | (Some(known), None) if known.times > 0 => &mut self.other_rules,
                _ => continue,
            };
            list.push(RuleChange { id: id.to_owned(), before, after });
        }
    }

    fn compare_trials(&mut self, before: &Run, after: &Run) {
        fn trials(run: &Run) -> Vec<&Told> {
            run.live.iter().flat_map(|live| &live.cases).flat_map(|case| &case.trials).collect()
        }
        let (before, after) = (trials(before), trials(after));
        for (name, [before, after]) in pairs(&before, &after, |told| &told.name) {
            let verdict = |told: Option<&&Told>| told.map(|told| told.judged.verdict);
            let is_known = |verdict| matches!(verdict, Some(Verdict::Pass | Verdict::Fail));
            let (was, is) = (verdict(before), verdict(after));
            let list = match (was, is) {
                (Some(Verdict::Fail), Some(Verdict::Pass)) => &mut self.better_trials,
                // That it failed before, too, is nothing that anybody knows.
                (was, Some(Verdict::Fail)) if was != Some(Verdict::Fail) => &mut self.worse_trials,
                _ if is_known(is) && !is_known(was) => &mut self.newly_exercised,
                _ if is_known(was) && !is_known(is) => &mut self.no_longer_exercised,
                _ => continue,
            };
            let reason = after.map(|told| told.judged.reason.clone()).unwrap_or_default();
            list.push(TrialChange { name: name.to_owned(), before: was, after: is, reason });
        }
    }
}

/// Returns whether a run can tell what came of a rule that another one found broken: one of the scenarios that showed
/// it was answered.
fn is_checked(rule: &str, broken_in: &Run, run: &Run) -> bool {
    let Some(live) = &run.live else { return true };
    let causes = broken_in.causes.iter().filter(|cause| cause.rule == rule);
    let showed: BTreeSet<&str> = causes.flat_map(|cause| &cause.cases).map(String::as_str).collect();
    let is_known = |told: &Told| matches!(told.judged.verdict, Verdict::Pass | Verdict::Fail);
    let is_answered = |case: &CaseReport| !case.attempts.is_empty() && case.trials.iter().any(is_known);
    showed.is_empty()
        || live.cases.iter().any(|case| showed.contains(case.name.as_str()) && is_answered(case))
}

/// Changes of trials, told one by one.
const ONE_BY_ONE: usize = 20;

/// Trials of one group of scenarios that changed alike.
struct Alike<'d> {
    group: &'d str,
    before: Option<Verdict>,
    after: Option<Verdict>,
    names: Vec<&'d str>,
}

/// The changes by group, where there are too many to tell one by one and they are not failures, each of which
/// counts.
fn folded(changes: &[TrialChange]) -> Option<Vec<Alike<'_>>> {
    if changes.len() <= ONE_BY_ONE || changes.iter().any(|change| change.after == Some(Verdict::Fail)) {
        return None;
    }
    let mut groups: Vec<Alike> = Vec::new();
    for TrialChange { name, before, after, .. } in changes {
        let group = catalogue::group(name);
        let is_alike = |of: &&mut Alike| of.group == group && of.before == *before && of.after == *after;
        match groups.iter_mut().find(is_alike) {
            Some(alike) => alike.names.push(name),
            None => groups.push(Alike { group, before: *before, after: *after, names: vec![name] }),
        }
    }
    Some(groups)
}

/// What has the same name, in the order of names.
fn pairs<'t, T>(
    before: &'t [T],
    after: &'t [T],
    name: impl Fn(&'t T) -> &'t str,
) -> BTreeMap<&'t str, [Option<&'t T>; 2]> {
    let mut pairs: BTreeMap<&str, [Option<&T>; 2]> = BTreeMap::new();
    for one in before {
        pairs.entry(name(one)).or_default()[0] = Some(one);
    }
    for one in after {
        pairs.entry(name(one)).or_default()[1] = Some(one);
    }
    pairs
}

impl Side {
    fn of(run: &Run) -> Self {
        Self {
            suite: run.suite.clone(),
            target: run.live.as_ref().map(|live| live.target.clone()),
            model: run.live.as_ref().map(|live| live.model.clone()),
            outcome: run.outcome,
            captures: run.totals.captures,
        }
    }
}

impl RuleState {
    const fn of(rule: &RuleTotal) -> Self {
        Self { worst: rule.worst, captures: rule.captures, times: rule.times }
    }
}
