//! Comparison of two runs.

mod html;
mod human;
mod lists;
mod markdown;
mod unlike;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use catalogue::Level;
use serde::{Deserialize, Serialize};

pub use html::{html, html_of_text};
pub use human::human;
pub use markdown::markdown;

use super::style::Style;
use results::text::{counted, grouped};
use results::{CaseReport, Outcome, RuleTotal, Run, TrialResult, Verdict};

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// The differences between two runs in the same dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diff {
    /// Version of this format.
    pub version: u32,
    /// The dialect of both.
    pub dialect: String,
    /// The old run.
    pub before: Side,
    /// The new run.
    pub after: Side,
    /// Differences of the options, which may explain some of the other differences.
    #[serde(default)]
    pub unlike: Vec<String>,
    /// Rules that are broken more than before.
    pub worse_rules: Vec<RuleChange>,
    /// Rules that are broken less than before.
    pub better_rules: Vec<RuleChange>,
    /// Rules that only one run checked.
    pub other_rules: Vec<RuleChange>,
    /// Trials that fail, and passed or were absent before.
    pub worse_trials: Vec<TrialChange>,
    /// Trials that failed and now pass.
    pub better_trials: Vec<TrialChange>,
    /// Trials that are newly exercised.
    pub newly_exercised: Vec<TrialChange>,
    /// Trials that are no longer exercised.
    pub no_longer_exercised: Vec<TrialChange>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Side {
    /// Version of the suite.
    pub suite: String,
    /// The endpoint, if one was tested.
    pub target: Option<String>,
    /// The requested model.
    pub model: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// Number of recordings.
    pub captures: u64,
}

/// A change of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleChange {
    /// The rule.
    pub id: String,
    /// Its old state; null if it was not checked.
    pub before: Option<RuleState>,
    /// Its new state; null if it was not checked.
    pub after: Option<RuleState>,
}

/// The findings of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleState {
    /// The worst level of its findings; off without findings.
    #[serde(with = "results::LevelName")]
    pub worst: Level,
    /// Number of recordings.
    pub captures: u64,
    /// Number of findings.
    pub times: u64,
}

/// A change of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrialChange {
    /// Its name.
    pub name: String,
    /// Its old verdict; null if it was absent.
    pub before: Option<Verdict>,
    /// Its new verdict; null if it is absent.
    pub after: Option<Verdict>,
    /// The reason.
    pub reason: String,
}

impl Diff {
    /// Compares two runs.
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

    /// Returns whether anything is worse.
    pub fn is_worse(&self) -> bool {
        !self.worse_rules.is_empty() || !self.worse_trials.is_empty()
    }

    /// Returns whether there are no differences.
    pub fn is_empty(&self) -> bool {
        let rules = [&self.worse_rules, &self.better_rules, &self.other_rules];
        let trials =
            [&self.worse_trials, &self.better_trials, &self.newly_exercised, &self.no_longer_exercised];
        rules.iter().all(|rules| rules.is_empty()) && trials.iter().all(|trials| trials.is_empty())
    }

    fn words(&self) -> &'static str {
        match (self.is_worse(), self.is_empty()) {
            (true, _) => "worse",
            (false, true) => "the same",
            (false, false) => "not worse",
        }
    }

    fn compare_rules(&mut self, before: &Run, after: &Run) {
        // The number of findings varies with the model; trials show whether that matters.
        let counts = before.live.is_none() && after.live.is_none();
        let weight = |state: &RuleState| (state.worst, if counts { state.captures } else { 0 });
        let runs = [before, after];
        for (id, [before, after]) in pairs(&before.rules, &after.rules, |rule| &rule.id) {
            let before = before.map(RuleState::of);
            let after = after.filter(|_| is_checked(id, runs[0], runs[1])).map(RuleState::of);
            let list = match (&before, &after) {
                (Some(before), Some(after)) if weight(after) > weight(before) => &mut self.worse_rules,
                (Some(before), Some(after)) if weight(after) < weight(before) => &mut self.better_rules,
                // A rule that was not checked before is not worse, but must be visible if it is broken.
                (None, Some(known)) | (Some(known), None) if known.times > 0 => &mut self.other_rules,
                _ => continue,
            };
            list.push(RuleChange { id: id.to_owned(), before, after });
        }
    }

    fn compare_trials(&mut self, before: &Run, after: &Run) {
        fn trials(run: &Run) -> Vec<&TrialResult> {
            run.live.iter().flat_map(|live| &live.cases).flat_map(|case| &case.trials).collect()
        }
        let (before, after) = (trials(before), trials(after));
        for (name, [before, after]) in pairs(&before, &after, |told| &told.name) {
            let verdict = |told: Option<&&TrialResult>| told.map(|told| told.judged.verdict);
            let is_known = |verdict| matches!(verdict, Some(Verdict::Pass | Verdict::Fail));
            let (was, is) = (verdict(before), verdict(after));
            let list = match (was, is) {
                (Some(Verdict::Fail), Some(Verdict::Pass)) => &mut self.better_trials,
                // Whether it failed before is unknown.
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

/// Writes changes below their heading: those that are better in another color than those that are worse.
pub(super) fn section(title: &str, is_better: bool, lines: Vec<String>, style: Style, out: &mut String) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title} ({})", lines.len());
    for line in lines {
        let line =
            if is_better { style.added(&format!("+ {line}")) } else { style.removed(&format!("- {line}")) };
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Writes the number of things that only one of two runs has.
pub(super) fn only_in_one(names: &[String], what: &str, out: &mut String) {
    if !names.is_empty() {
        let are = if names.len() == 1 { "is" } else { "are" };
        let _ = writeln!(out, "\n{} {are} in only one of the runs", counted(names.len() as u64, what));
    }
}

/// Returns whether a run exercised a rule that another one found broken: one of the scenarios with findings
/// got a response.
fn is_checked(rule: &str, broken_in: &Run, run: &Run) -> bool {
    let Some(live) = &run.live else { return true };
    let causes = broken_in.causes.iter().filter(|cause| cause.rule == rule);
    let showed: BTreeSet<&str> = causes.flat_map(|cause| &cause.cases).map(String::as_str).collect();
    let is_known = |told: &TrialResult| matches!(told.judged.verdict, Verdict::Pass | Verdict::Fail);
    let is_answered = |case: &CaseReport| !case.attempts.is_empty() && case.trials.iter().any(is_known);
    showed.is_empty()
        || live.cases.iter().any(|case| showed.contains(case.name.as_str()) && is_answered(case))
}

/// Maximum number of changes that are listed one by one.
const ONE_BY_ONE: usize = 20;

/// What trials that changed alike have in common: the group of their scenarios, and the verdicts before and after.
type Alike<'d> = (&'d str, Option<Verdict>, Option<Verdict>);

/// Returns the names of trials that changed alike, unless there are few or they are failures, which are always listed.
fn folded(changes: &[TrialChange]) -> Option<Vec<(Alike<'_>, Vec<&str>)>> {
    if changes.len() <= ONE_BY_ONE || changes.iter().any(|change| change.after == Some(Verdict::Fail)) {
        return None;
    }
    let names = changes.iter().map(|TrialChange { name, before, after, .. }| {
        ((catalogue::group(name), *before, *after), name.as_str())
    });
    Some(grouped(names))
}

/// Pairs elements by name, sorted by name.
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
