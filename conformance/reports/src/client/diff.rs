//! Comparison of two runs of a client.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use results::text::visible;
use results::{ClientCaseReport, ClientOutcome, ClientRun};
use serde::Serialize;

use super::super::style::Screen;

/// Comparison of two runs of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientDiff {
    /// The client before, with its version.
    pub before: String,
    /// The client after.
    pub after: String,
    /// Cases that are worse.
    pub worse: Vec<Changed>,
    /// Cases that are better.
    pub better: Vec<Changed>,
    /// Cases that only one of the runs has.
    pub only_in_one: Vec<String>,
}

/// A case whose outcome changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Its name.
    pub case: String,
    /// The outcome before.
    pub before: ClientOutcome,
    /// The outcome after.
    pub after: ClientOutcome,
    /// The current behavior of the client.
    pub detail: String,
}

impl ClientDiff {
    /// Compares two runs.
    pub fn new(before: &ClientRun, after: &ClientRun) -> Self {
        let by_name = |run: &ClientRun| -> BTreeMap<String, ClientCaseReport> {
            run.cases.iter().map(|case| (case.name.clone(), case.clone())).collect()
        };
        let (old, new) = (by_name(before), by_name(after));
        let mut diff = Self {
            before: before.title(),
            after: after.title(),
            worse: Vec::new(),
            better: Vec::new(),
            only_in_one: Vec::new(),
        };
        for (name, case) in &new {
            let Some(known) = old.get(name) else {
                diff.only_in_one.push(name.clone());
                continue;
            };
            if known.outcome.rank() == case.outcome.rank() {
                continue;
            }
            let changed = Changed {
                case: name.clone(),
                before: known.outcome,
                after: case.outcome,
                detail: case.detail.clone(),
            };
            // An unsupported case is worse than a supported one.
            let is_worse = case.outcome.rank() > known.outcome.rank()
                && known.outcome != ClientOutcome::NotExercised
                || case.outcome == ClientOutcome::NotExercised;
            if is_worse { diff.worse.push(changed) } else { diff.better.push(changed) }
        }
        diff.only_in_one.extend(old.keys().filter(|name| !new.contains_key(*name)).cloned());
        diff
    }

    /// Returns whether anything is worse.
    pub const fn is_worse(&self) -> bool {
        !self.worse.is_empty()
    }

    /// Renders it for a terminal, or with a plain screen for a pull request.
    pub fn human(&self, screen: Screen) -> String {
        let mut out = format!("{} → {}\n", visible(&self.before), visible(&self.after));
        for (title, all, sign) in [("worse", &self.worse, "-"), ("better", &self.better, "+")] {
            if all.is_empty() {
                continue;
            }
            let _ = writeln!(out, "\n{title} ({})", all.len());
            for changed in all {
                let line = format!(
                    "{sign} {}: {} → {}  {}",
                    visible(&changed.case),
                    changed.before.name(),
                    changed.after.name(),
                    visible(&changed.detail)
                );
                let line = if sign == "-" { screen.style.removed(&line) } else { screen.style.added(&line) };
                let _ = writeln!(out, "{}", line.trim_end());
            }
        }
        if self.worse.is_empty() && self.better.is_empty() {
            out.push_str("no case is better or worse\n");
        }
        if !self.only_in_one.is_empty() {
            let count = self.only_in_one.len();
            let are = if count == 1 { "case is" } else { "cases are" };
            let _ = writeln!(out, "\n{count} {are} in only one of the runs");
        }
        out
    }
}
