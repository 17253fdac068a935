//! The differences of two runs as lists, in the order in which they are shown.

use catalogue::Level;
use results::text::{counted, cut};

use super::super::human::word;
use super::{Alike, CauseChange, Diff, Ending, RuleChange, RuleState, Side, TrialChange, folded, some};

/// Maximum number of changes of a kind.
const MAX_CHANGES: usize = 100;
/// Maximum length of a reason.
pub(super) const MAX_LENGTH: usize = 200;

pub(super) struct List {
    pub(super) heading: &'static str,
    pub(super) level: Level,
    /// Their number and kind.
    pub(super) count: String,
    pub(super) rows: Vec<Row>,
    /// Number of changes without a row.
    pub(super) more: usize,
}

/// A change, or several alike.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) detail: String,
}

/// Only lists with changes, the worse ones first.
pub(super) fn lists(diff: &Diff) -> impl Iterator<Item = List> {
    let trials = |heading, level, changes| trials(heading, level, diff.noun, changes);
    let worst = if diff.new_causes.iter().any(|cause| cause.fails) { Level::Must } else { Level::Should };
    let lists = [
        rules("worse", Level::Must, &diff.worse_rules),
        causes("new", worst, &diff.new_causes),
        trials("worse", Level::Must, &diff.worse_trials),
        rules("better", Level::Off, &diff.better_rules),
        causes("gone", Level::Off, &diff.gone_causes),
        trials("better", Level::Off, &diff.better_trials),
        trials("newly exercised", Level::May, &diff.newly_exercised),
        trials("no longer exercised", Level::Should, &diff.no_longer_exercised),
        rules("checked in only one run", Level::May, &diff.other_rules),
    ];
    lists.into_iter().filter(|list| !list.rows.is_empty())
}

fn rules(heading: &'static str, level: Level, changes: &[RuleChange]) -> List {
    list(heading, level, "rule", changes, |change| Row {
        name: change.id.clone(),
        before: rule_state(change.before.as_ref()),
        after: rule_state(change.after.as_ref()),
        detail: String::new(),
    })
}

fn causes(heading: &'static str, level: Level, changes: &[CauseChange]) -> List {
    list(heading, level, "cause", changes, |change| Row {
        name: change.rule.clone(),
        before: String::new(),
        after: String::new(),
        detail: format!("{} ({})", cut(&change.message, MAX_LENGTH), counted(change.tests, "test")),
    })
}

fn trials(heading: &'static str, level: Level, noun: &str, changes: &[TrialChange]) -> List {
    let mut list = list(heading, level, noun, changes, |change| Row {
        name: change.name.clone(),
        before: ending(change.before).to_owned(),
        after: ending(change.after).to_owned(),
        detail: cut(&change.reason, MAX_LENGTH),
    });
    if let Some(groups) = folded(changes) {
        let row = |((group, before, after), names): (Alike<'_>, Vec<&str>)| Row {
            name: group.to_owned(),
            before: format!("{}, {}", counted(names.len() as u64, noun), ending(before)),
            after: ending(after).to_owned(),
            detail: some(&names),
        };
        list.rows = groups.into_iter().map(row).collect();
        list.more = 0;
    }
    list
}

fn list<T>(heading: &'static str, level: Level, kind: &str, changes: &[T], row: impl Fn(&T) -> Row) -> List {
    let rows = changes.iter().take(MAX_CHANGES).map(row).collect();
    let more = changes.len().saturating_sub(MAX_CHANGES);
    List { heading, level, count: counted(changes.len() as u64, kind), rows, more }
}

pub(super) fn side(side: &Side) -> String {
    let outcome = side.outcome.name();
    let of = side.target.as_ref().map(|target| format!(" of {target}")).unwrap_or_default();
    let model = side.model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
    let captures = side.captures.map(|count| counted(count, "recording"));
    let counts = captures.or(side.tests.map(|count| counted(count, "test"))).unwrap_or_default();
    format!("{outcome}{of}{model}, {counts}, suite {}", side.suite)
}

fn ending(ending: Option<Ending>) -> &'static str {
    ending.map_or("not run", |Ending(word)| word)
}

impl Row {
    /// The endings without the name; nothing for a cause.
    pub(super) fn change(&self, arrow: &str) -> String {
        if self.after.is_empty() { String::new() } else { format!("{} {arrow} {}", self.before, self.after) }
    }
}

fn rule_state(state: Option<&RuleState>) -> String {
    match state {
        None => "not checked".to_owned(),
        Some(state) if state.times == 0 => "kept".to_owned(),
        Some(state) => format!("{} in {}", word(state.worst), counted(state.captures, "recording")),
    }
}
