//! Comparison of two runs.

mod html;
mod human;
mod lists;
mod markdown;

use std::collections::{BTreeMap, BTreeSet};

use results::Verdict;
use results::text::{grouped, listed_plainly};
use serde::{Serialize, Serializer};

pub use self::html::html;
pub use self::human::human;
pub use self::markdown::markdown;
use super::form::Reported;
use super::sheet::{Sheet, SheetGroup, SheetTest};

pub use super::sheet::{RuleState, Side};

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// The differences between two runs of one kind: of endpoints, recordings, clients or gateways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Version of this format.
    pub version: u32,
    /// The dialect of both.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub dialect: String,
    /// The old run.
    pub before: Side,
    /// The new run.
    pub after: Side,
    /// Differences of the options, which may explain some of the other differences.
    pub unlike: Vec<String>,
    /// Rules that are broken more than before.
    pub worse_rules: Vec<RuleChange>,
    /// Rules that are broken less than before.
    pub better_rules: Vec<RuleChange>,
    /// Rules that only one run checked.
    pub other_rules: Vec<RuleChange>,
    /// Causes that only the new run has, of a client or a gateway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_causes: Vec<CauseChange>,
    /// Causes that only the old run has, of a client or a gateway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone_causes: Vec<CauseChange>,
    /// Trials that are worse, or fail and were absent before.
    pub worse_trials: Vec<TrialChange>,
    /// Trials that are better.
    pub better_trials: Vec<TrialChange>,
    /// Trials that are newly exercised.
    pub newly_exercised: Vec<TrialChange>,
    /// Trials that are no longer exercised.
    pub no_longer_exercised: Vec<TrialChange>,
    #[serde(skip)]
    noun: &'static str,
}

/// A change of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleChange {
    /// The rule.
    pub id: String,
    /// Its old state; null if it was not checked.
    pub before: Option<RuleState>,
    /// Its new state; null if it was not checked.
    pub after: Option<RuleState>,
}

/// A cause that only one of the runs has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseChange {
    /// The rule.
    pub rule: String,
    /// The common part of its findings.
    pub kind: String,
    /// The message of its example.
    pub message: String,
    /// Whether it fails its run.
    pub fails: bool,
    /// Number of tests.
    pub tests: u64,
}

/// A change of a trial: of an endpoint, or a test of a client or a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialChange {
    /// Its name.
    pub name: String,
    /// Its old ending; null if it was absent.
    pub before: Option<Ending>,
    /// Its new ending; null if it is absent.
    pub after: Option<Ending>,
    /// The reason.
    pub reason: String,
    #[serde(skip)]
    fails: bool,
}

/// The ending of a trial in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending(&'static str);

impl Serialize for Ending {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.replace(' ', "-"))
    }
}

impl Diff {
    /// Compares two runs.
    pub fn new<'r>(before: &'r impl Reported, after: &'r impl Reported) -> Self {
        Self::of(&before.sheet(), &after.sheet())
    }

    fn of<'r>(before: &Sheet<'r>, after: &Sheet<'r>) -> Self {
        let sheets = [before, after];
        let nouns = after.compared.nouns.filter(|_| before.compared.nouns.is_some());
        let groups = sheets.map(|sheet| if nouns.is_some() { (sheet.groups)() } else { Vec::new() });
        let group = nouns.map_or("", |[_, group]| group);
        let mut diff = Self {
            version: VERSION,
            dialect: after.compared.dialect.to_owned(),
            before: before.compared.side.clone(),
            after: after.compared.side.clone(),
            unlike: unlike(sheets, &groups, group),
            worse_rules: Vec::new(),
            better_rules: Vec::new(),
            other_rules: Vec::new(),
            new_causes: without(after, before),
            gone_causes: without(before, after),
            worse_trials: Vec::new(),
            better_trials: Vec::new(),
            newly_exercised: Vec::new(),
            no_longer_exercised: Vec::new(),
            noun: nouns.map_or("trial", |[test, _]| test),
        };
        diff.compare_rules(sheets, &groups);
        diff.compare_tests(&groups);
        diff
    }

    /// Returns whether anything is worse.
    pub fn is_worse(&self) -> bool {
        let is_failing = self.new_causes.iter().any(|cause| cause.fails);
        !self.worse_rules.is_empty() || !self.worse_trials.is_empty() || is_failing
    }

    /// Returns whether there are no differences.
    pub fn is_empty(&self) -> bool {
        lists::lists(self).next().is_none()
    }

    fn words(&self) -> &'static str {
        match (self.is_worse(), self.is_empty()) {
            (true, _) => "worse",
            (false, true) => "the same",
            (false, false) => "not worse",
        }
    }

    fn compare_rules(&mut self, sheets: [&Sheet<'_>; 2], groups: &[Vec<SheetGroup<'_>>; 2]) {
        // The number of findings varies with the model; trials show whether that matters.
        let counts = sheets.iter().all(|sheet| sheet.compared.nouns.is_none());
        let weight = |state: &RuleState| (state.worst, if counts { state.captures } else { 0 });
        let answered: BTreeSet<&str> =
            groups[1].iter().filter(|group| is_answered(group)).map(|group| &*group.name).collect();
        // Whether the new run tried what showed a broken rule before.
        let is_checked = |before: Option<&RuleState>| {
            let shown_by = before.map(|before| &before.groups);
            counts
                || shown_by.is_none_or(|groups| {
                    groups.is_empty() || groups.iter().any(|group| answered.contains(&**group))
                })
        };
        let [before, after] = sheets.map(|sheet| (sheet.compared.rules)());
        for (id, [before, after]) in pairs(before, after) {
            let after = after.filter(|_| is_checked(before.as_ref()));
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

    fn compare_tests(&mut self, groups: &[Vec<SheetGroup<'_>>; 2]) {
        let [before, after] = groups.each_ref().map(|groups| {
            groups.iter().flat_map(|group| &group.tests).map(|test| (&*test.name, test)).collect()
        });
        for (name, [before, after]) in pairs(before, after) {
            let rank = |test: Option<&SheetTest<'_>>| test.and_then(|test| test.state.1);
            let fails = after.is_some_and(|test| test.verdict == Verdict::Fail && test.expected.is_none());
            let list = match (rank(before), rank(after)) {
                (Some(was), Some(is)) if was == is => continue,
                (Some(was), Some(is)) if is < was => &mut self.better_trials,
                (Some(_), Some(_)) => &mut self.worse_trials,
                // Whether it failed before is unknown.
                (None, Some(_)) if fails => &mut self.worse_trials,
                (None, Some(_)) => &mut self.newly_exercised,
                (Some(_), None) => &mut self.no_longer_exercised,
                (None, None) => continue,
            };
            list.push(TrialChange {
                name: name.to_owned(),
                before: before.map(|test| Ending(test.state.0)),
                after: after.map(|test| Ending(test.state.0)),
                reason: after.map(|test| test.message.clone()).unwrap_or_default(),
                fails,
            });
        }
    }
}

fn is_answered(group: &SheetGroup<'_>) -> bool {
    group.tests.iter().any(|test| matches!(test.verdict, Verdict::Pass | Verdict::Fail))
}

/// Causes that the other run lacks, unless their rules are compared.
fn without(sheet: &Sheet<'_>, other: &Sheet<'_>) -> Vec<CauseChange> {
    if !(sheet.compared.rules)().is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<[&str; 2]> = other.causes.iter().map(|cause| [cause.rule, cause.kind]).collect();
    let own = sheet.causes.iter().filter(|cause| !known.contains(&[cause.rule, cause.kind]));
    own.map(|cause| CauseChange {
        rule: cause.rule.to_owned(),
        kind: cause.kind.to_owned(),
        message: cause.message.to_string(),
        fails: cause.fails,
        tests: cause.times,
    })
    .collect()
}

/// The groups and options that differ, in words.
fn unlike(sheets: [&Sheet<'_>; 2], groups: &[Vec<SheetGroup<'_>>; 2], noun: &str) -> Vec<String> {
    let mut out = Vec::new();
    let names = groups.each_ref().map(|of| of.iter().map(|group| &*group.name).collect::<BTreeSet<_>>());
    for (one, other, which) in [(&names[0], &names[1], "before"), (&names[1], &names[0], "after")] {
        let only: Vec<&str> = one.difference(other).copied().collect();
        if !only.is_empty() {
            let of = results::text::counted(one.len() as u64, noun);
            out.push(format!("only {which}, {} of {of}: {}", only.len(), some(&only)));
        }
    }
    let [before, after] = sheets.map(|sheet| &sheet.compared.options);
    for ((name, was), (_, is)) in before.iter().zip(after).filter(|(was, is)| was != is) {
        out.push(format!("{name}: {was} before, {is} after"));
    }
    out
}

const MAX_NAMES: usize = 5;

fn some(names: &[&str]) -> String {
    listed_plainly(names, MAX_NAMES, |name| (*name).to_owned())
}

/// Maximum number of changes that are listed one by one.
const ONE_BY_ONE: usize = 20;

/// The group of trials that changed alike, and their endings before and after.
type Alike<'d> = (&'d str, Option<Ending>, Option<Ending>);

/// Changes that are alike stand together. `None` if there are few, or if one fails: failures are always listed.
fn folded(changes: &[TrialChange]) -> Option<Vec<(Alike<'_>, Vec<&str>)>> {
    if changes.len() <= ONE_BY_ONE || changes.iter().any(|change| change.fails) {
        return None;
    }
    let names = changes.iter().map(|TrialChange { name, before, after, .. }| {
        ((catalogue::group(name), *before, *after), name.as_str())
    });
    Some(grouped(names))
}

/// Values of both sides by their names.
fn pairs<'t, T>(before: Vec<(&'t str, T)>, after: Vec<(&'t str, T)>) -> BTreeMap<&'t str, [Option<T>; 2]> {
    let mut pairs: BTreeMap<&str, [Option<T>; 2]> = BTreeMap::new();
    for (at, all) in [before, after].into_iter().enumerate() {
        for (name, one) in all {
            pairs.entry(name).or_insert_with(|| [None, None])[at] = Some(one);
        }
    }
    pairs
}
