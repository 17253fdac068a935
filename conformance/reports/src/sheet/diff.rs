//! Comparison of two runs of a client, or of a gateway.

use std::collections::BTreeMap;

use results::text::{counted, shortened, visible};
use serde::Serialize;

use super::{Sheet, SheetTest};
use crate::diff::{only_in_one, section};
use crate::style::Screen;

/// Comparison of two runs of a client, or of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestsDiff {
    /// The client or gateway before.
    pub before: String,
    /// The client or gateway after.
    pub after: String,
    /// Causes that only the run before has.
    pub gone: Vec<CauseChange>,
    /// Causes that only the run after has.
    pub new: Vec<CauseChange>,
    /// Tests that are worse.
    pub worse: Vec<TestChange>,
    /// Tests that are better.
    pub better: Vec<TestChange>,
    /// Tests that only one of the runs has.
    pub only_in_one: Vec<String>,
}

/// A cause that only one of the runs has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseChange {
    /// The rule.
    pub rule: String,
    /// What its findings have in common.
    pub kind: String,
    /// The message of its example.
    pub message: String,
    /// Whether it fails its run.
    pub fails: bool,
    /// Number of tests.
    pub tests: u64,
}

/// A test that ended in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestChange {
    /// Its name.
    pub test: String,
    /// How it ended before.
    pub before: &'static str,
    /// How it ended after.
    pub after: &'static str,
    /// What is wrong after.
    pub detail: String,
}

/// Width of the description of a change.
const DETAIL: usize = 160;

impl TestsDiff {
    /// Compares two runs.
    pub fn new(before: &Sheet<'_>, after: &Sheet<'_>) -> Self {
        let [old, new] = [before, after].map(by_name);
        let mut diff = Self {
            before: before.subject.clone(),
            after: after.subject.clone(),
            gone: without(before, after),
            new: without(after, before),
            worse: Vec::new(),
            better: Vec::new(),
            only_in_one: Vec::new(),
        };
        for test in &after.tests {
            let Some(known) = old.get(test.name) else {
                diff.only_in_one.push(test.name.to_owned());
                continue;
            };
            let ((was, rank_before), (is, rank)) = (known.state, test.state);
            if rank_before == rank {
                continue;
            }
            let changed =
                TestChange { test: test.name.to_owned(), before: was, after: is, detail: detail(test) };
            if rank > rank_before { diff.worse.push(changed) } else { diff.better.push(changed) }
        }
        diff.only_in_one.extend(old.into_keys().filter(|name| !new.contains_key(name)).map(str::to_owned));
        diff
    }

    /// Returns whether anything is worse: a test, or a cause that is new and fails.
    pub fn is_worse(&self) -> bool {
        !self.worse.is_empty() || self.new.iter().any(|cause| cause.fails)
    }

    /// Renders it for a terminal, or with a plain screen for a pull request.
    pub fn human(&self, screen: Screen) -> String {
        let mut out = format!("{} → {}\n", visible(&self.before), visible(&self.after));
        let mut section =
            |title: &str, is_better, lines| section(title, is_better, lines, screen.style, &mut out);
        let cause = |cause: &CauseChange| {
            let message = shortened(&cause.message, DETAIL);
            format!("{}: {message} ({})", visible(&cause.rule), counted(cause.tests, "test"))
        };
        let test = |test: &TestChange| {
            let TestChange { before, after, .. } = test;
            format!("{}: {before} → {after}  {}", visible(&test.test), shortened(&test.detail, DETAIL))
        };
        section("new causes", false, self.new.iter().map(cause).collect());
        section("causes that are gone", true, self.gone.iter().map(cause).collect());
        section("worse", false, self.worse.iter().map(test).collect());
        section("better", true, self.better.iter().map(test).collect());
        if [self.new.len(), self.gone.len(), self.worse.len(), self.better.len()] == [0; 4] {
            out.push_str("no test is better or worse, and the causes are the same\n");
        }
        only_in_one(&self.only_in_one, "test", &mut out);
        out
    }
}

fn by_name<'s>(sheet: &'s Sheet<'_>) -> BTreeMap<&'s str, &'s SheetTest<'s>> {
    sheet.tests.iter().map(|test| (test.name, test)).collect()
}

fn without(sheet: &Sheet<'_>, other: &Sheet<'_>) -> Vec<CauseChange> {
    let is_known = |rule: &str, kind: &str| {
        other.causes.iter().any(|known| known.of.rule == rule && known.of.kind == kind)
    };
    let own = sheet.causes.iter().filter(|cause| !is_known(&cause.of.rule, &cause.of.kind));
    own.map(|cause| CauseChange {
        rule: cause.of.rule.clone(),
        kind: cause.of.kind.clone(),
        message: cause.finding.message.clone(),
        fails: cause.of.fails,
        tests: cause.of.tests,
    })
    .collect()
}

fn detail(test: &SheetTest<'_>) -> String {
    match test.findings.iter().find(|finding| finding.fails) {
        Some(finding) => format!("{}: {}", finding.rule, finding.message),
        None => test.reason.to_owned(),
    }
}
