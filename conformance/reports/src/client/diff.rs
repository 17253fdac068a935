//! Comparison of two runs of a client.

use std::collections::BTreeMap;

use results::text::visible;
use results::{ClientCaseReport, ClientOutcome, ClientRun};
use serde::Serialize;

use super::super::diff::{only_in_one, section};
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
        let [old, new] = [before, after].map(by_name);
        let mut diff = Self {
            before: before.title(),
            after: after.title(),
            worse: Vec::new(),
            better: Vec::new(),
            only_in_one: Vec::new(),
        };
        for (name, case) in &new {
            let Some(known) = old.get(name) else {
                diff.only_in_one.push((*name).to_owned());
                continue;
            };
            if known.outcome.rank() == case.outcome.rank() {
                continue;
            }
            let changed = Changed {
                case: (*name).to_owned(),
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
        diff.only_in_one.extend(old.into_keys().filter(|name| !new.contains_key(name)).map(str::to_owned));
        diff
    }

    /// Returns whether anything is worse.
    pub const fn is_worse(&self) -> bool {
        !self.worse.is_empty()
    }

    /// Renders it for a terminal, or with a plain screen for a pull request.
    pub fn human(&self, screen: Screen) -> String {
        let mut out = format!("{} → {}\n", visible(&self.before), visible(&self.after));
        let line = |changed: &Changed| {
            let (before, after) = (changed.before.name(), changed.after.name());
            format!("{}: {before} → {after}  {}", visible(&changed.case), visible(&changed.detail))
        };
        section("worse", false, self.worse.iter().map(line).collect(), screen.style, &mut out);
        section("better", true, self.better.iter().map(line).collect(), screen.style, &mut out);
        if self.worse.is_empty() && self.better.is_empty() {
            out.push_str("no case is better or worse\n");
        }
        only_in_one(&self.only_in_one, "case", &mut out);
        out
    }
}

fn by_name(run: &ClientRun) -> BTreeMap<&str, &ClientCaseReport> {
    run.cases.iter().map(|case| (&*case.name, case)).collect()
}
