//! Differences of two runs, for a terminal.

use std::fmt::Write as _;

use catalogue::Level;

use super::super::human::word;
use super::super::style::{Screen, Style};
use super::unlike::some;
use super::{Alike, Diff, RuleChange, RuleState, Side, TrialChange, folded};
use results::text::{counted, cut, visible, wrap};
use results::{Outcome, Verdict};

/// Maximum number of changes of a kind.
pub(super) const MAX_CHANGES: usize = 100;
/// Maximum length of a reason.
pub(super) const MAX_LENGTH: usize = 200;

/// Returns the differences, the worse ones first.
pub fn human(diff: &Diff, screen: impl Into<Screen>) -> String {
    let Screen { style, width } = screen.into();
    let mut page = Page { out: String::new(), style, width: width.max(Screen::LEAST_WIDTH) };
    page.row(0, &format!("before: {}", visible(&side(&diff.before))));
    page.row(0, &format!("after:  {}", visible(&side(&diff.after))));
    if diff.before.suite != diff.after.suite {
        page.row(0, "note: the versions of the suite differ, and so may their rules");
    }
    if !diff.unlike.is_empty() {
        page.row(0, "note: the options of the runs differ, which may explain some differences:");
        for how in &diff.unlike {
            page.row(2, &visible(&cut(how, MAX_LENGTH)));
        }
    }
    if diff.is_empty() {
        page.row(0, "nothing is better or worse");
    }
    page.rules("worse", Level::Must, &diff.worse_rules);
    page.trials("worse", Level::Must, &diff.worse_trials);
    page.rules("better", Level::Off, &diff.better_rules);
    page.trials("better", Level::Off, &diff.better_trials);
    page.trials("newly exercised", Level::May, &diff.newly_exercised);
    page.trials("no longer exercised", Level::Should, &diff.no_longer_exercised);
    page.rules("checked in only one run", Level::May, &diff.other_rules);
    page.out
}

struct Page {
    out: String,
    style: Style,
    width: usize,
}

impl Page {
    fn rules(&mut self, heading: &str, level: Level, changes: &[RuleChange]) {
        self.heading(heading, level, changes.len(), "rule");
        for RuleChange { id, before, after } in changes.iter().take(MAX_CHANGES) {
            let (before, after) = (rule_state(before.as_ref()), rule_state(after.as_ref()));
            self.row(2, &format!("{}  {before} -> {after}", visible(id)));
        }
        self.more(changes.len());
    }

    fn trials(&mut self, heading: &str, level: Level, changes: &[TrialChange]) {
        self.heading(heading, level, changes.len(), "trial");
        if let Some(groups) = folded(changes) {
            for Alike { group, before, after, names } in groups {
                let (before, after) = (verdict(before), verdict(after));
                let count = counted(names.len() as u64, "trial");
                self.row(
                    2,
                    &format!("{}  {count}, {before} -> {after}: {}", visible(group), visible(&some(&names))),
                );
            }
            return;
        }
        for TrialChange { name, before, after, reason } in changes.iter().take(MAX_CHANGES) {
            let why = if reason.is_empty() {
                String::new()
            } else {
                format!(": {}", visible(&cut(reason, MAX_LENGTH)))
            };
            self.row(2, &format!("{}  {} -> {}{why}", visible(name), verdict(*before), verdict(*after)));
        }
        self.more(changes.len());
    }

    fn heading(&mut self, text: &str, level: Level, count: usize, what: &str) {
        if count > 0 {
            let text = format!("{text}: {}", counted(count as u64, what));
            let text =
                if level == Level::Off { self.style.good(&text) } else { self.style.level(level, &text) };
            let _ = writeln!(self.out, "{text}");
        }
    }

    fn more(&mut self, count: usize) {
        if count > MAX_CHANGES {
            self.row(2, &format!("and {} more", count - MAX_CHANGES));
        }
    }

    fn row(&mut self, indent: usize, text: &str) {
        for (number, row) in wrap(text, self.width.saturating_sub(indent + 2)).iter().enumerate() {
            let indent = if number == 0 { indent } else { indent + 2 };
            let _ = writeln!(self.out, "{:indent$}{row}", "");
        }
    }
}

/// Returns a run in one line.
pub(super) fn side(side: &Side) -> String {
    let outcome = match side.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Incomplete => "incomplete",
    };
    let of = side.target.as_ref().map(|target| format!(" of {target}")).unwrap_or_default();
    let model = side.model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
    format!("{outcome}{of}{model}, {}, suite {}", counted(side.captures, "recording"), side.suite)
}

pub(super) fn verdict(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "not run",
        Some(verdict) => verdict.name(),
    }
}

pub(super) fn rule_state(state: Option<&RuleState>) -> String {
    match state {
        None => "not checked".to_owned(),
        Some(state) if state.times == 0 => "kept".to_owned(),
        Some(state) => format!("{} in {}", word(state.worst), counted(state.captures, "recording")),
    }
}
