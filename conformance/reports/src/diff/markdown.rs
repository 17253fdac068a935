//! Differences of two runs, as Markdown.

use std::fmt::Write as _;

use super::super::markdown::code;
use super::human::{MAX_CHANGES, MAX_LENGTH, rule_state, side, verdict};
use super::unlike::some;
use super::{Alike, Diff, RuleChange, TrialChange, folded};
use results::text::{counted, cut};

/// Returns the differences, the worse ones first.
pub fn markdown(diff: &Diff) -> String {
    let mut out = String::new();
    let what = if diff.is_worse() {
        "worse"
    } else if diff.is_empty() {
        "the same"
    } else {
        "not worse"
    };
    let _ = writeln!(out, "# Conformance: {what}\n");
    let _ = writeln!(out, "- before: {}\n- after: {}", code(&side(&diff.before)), code(&side(&diff.after)));
    if diff.before.suite != diff.after.suite {
        out.push_str("- The versions of the suite differ, and so may their rules.\n");
    }
    if !diff.unlike.is_empty() {
        out.push_str("- The options of the runs differ, which may explain some differences:\n");
        for how in &diff.unlike {
            let _ = writeln!(out, "  - {}", code(&cut(how, MAX_LENGTH)));
        }
    }
    rules("Worse", &diff.worse_rules, &mut out);
    trials("Worse", &diff.worse_trials, &mut out);
    rules("Better", &diff.better_rules, &mut out);
    trials("Better", &diff.better_trials, &mut out);
    trials("Newly exercised", &diff.newly_exercised, &mut out);
    trials("No longer exercised", &diff.no_longer_exercised, &mut out);
    rules("Checked in only one run", &diff.other_rules, &mut out);
    out
}

fn heading(heading: &str, count: usize, what: &str, out: &mut String) {
    if count > 0 {
        let _ = writeln!(out, "\n## {heading}: {}\n", counted(count as u64, what));
    }
}

fn more(count: usize, out: &mut String) {
    if count > MAX_CHANGES {
        let _ = writeln!(out, "- and {} more", count - MAX_CHANGES);
    }
}

fn rules(name: &str, changes: &[RuleChange], out: &mut String) {
    heading(name, changes.len(), "rule", out);
    for RuleChange { id, before, after } in changes.iter().take(MAX_CHANGES) {
        let (before, after) = (rule_state(before.as_ref()), rule_state(after.as_ref()));
        let _ = writeln!(out, "- {}: {before} → {after}", code(id));
    }
    more(changes.len(), out);
}

fn trials(name: &str, changes: &[TrialChange], out: &mut String) {
    heading(name, changes.len(), "trial", out);
    if let Some(groups) = folded(changes) {
        for Alike { group, before, after, names } in groups {
            let (before, after) = (verdict(before), verdict(after));
            let count = counted(names.len() as u64, "trial");
            let _ = writeln!(out, "- {}: {count}, {before} → {after}: {}", code(group), code(&some(&names)));
        }
        return;
    }
    for TrialChange { name, before, after, reason } in changes.iter().take(MAX_CHANGES) {
        let why =
            if reason.is_empty() { String::new() } else { format!(": {}", code(&cut(reason, MAX_LENGTH))) };
        let _ = writeln!(out, "- {}: {} → {}{why}", code(name), verdict(*before), verdict(*after));
    }
    more(changes.len(), out);
}
