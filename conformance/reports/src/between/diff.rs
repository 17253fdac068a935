//! Comparison of two runs of both ends of a gateway.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use results::text::{counted, shortened, visible};
use results::{BetweenCause, BetweenRun, BetweenTest, Verdict};
use serde::Serialize;

use super::super::style::Screen;

/// Comparison of two runs of both ends of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BetweenDiff {
    /// The gateway before.
    pub before: String,
    /// The gateway after.
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

/// A test whose verdict changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestChange {
    /// Its name.
    pub test: String,
    /// The verdict before.
    pub before: Verdict,
    /// The verdict after.
    pub after: Verdict,
    /// What is wrong after.
    pub detail: String,
}

/// Width of the description of a change.
const DETAIL: usize = 160;

/// Returns how bad a verdict is.
const fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::NotExercised => 1,
        Verdict::HarnessError => 2,
        Verdict::Fail => 3,
    }
}

impl BetweenDiff {
    /// Compares two runs.
    pub fn new(before: &BetweenRun, after: &BetweenRun) -> Self {
        let by_name = |run: &'_ BetweenRun| -> BTreeMap<String, usize> {
            run.tests.iter().enumerate().map(|(at, test)| (test.name.clone(), at)).collect()
        };
        let (old, new) = (by_name(before), by_name(after));
        let mut diff = Self {
            before: before.gateway.clone(),
            after: after.gateway.clone(),
            gone: without(before, after),
            new: without(after, before),
            worse: Vec::new(),
            better: Vec::new(),
            only_in_one: Vec::new(),
        };
        for test in &after.tests {
            let Some(known) = old.get(&test.name).and_then(|at| before.tests.get(*at)) else {
                diff.only_in_one.push(test.name.clone());
                continue;
            };
            if known.verdict == test.verdict {
                continue;
            }
            let changed = TestChange {
                test: test.name.clone(),
                before: known.verdict,
                after: test.verdict,
                detail: detail(test),
            };
            let is_worse = rank(test.verdict) > rank(known.verdict);
            if is_worse { diff.worse.push(changed) } else { diff.better.push(changed) }
        }
        diff.only_in_one.extend(old.into_keys().filter(|name| !new.contains_key(name)));
        diff
    }

    /// Returns whether anything is worse: a test, or a cause that is new and fails.
    pub fn is_worse(&self) -> bool {
        !self.worse.is_empty() || self.new.iter().any(|cause| cause.fails)
    }

    /// Renders it for a terminal, or with a plain screen for a pull request.
    pub fn human(&self, screen: Screen) -> String {
        let mut out = format!("{} → {}\n", visible(&self.before), visible(&self.after));
        let mut section = |title: &str, sign: char, lines: Vec<String>| {
            if lines.is_empty() {
                return;
            }
            let _ = writeln!(out, "\n{title} ({})", lines.len());
            for line in lines {
                let line = format!("{sign} {line}");
                let line = if sign == '-' { screen.style.removed(&line) } else { screen.style.added(&line) };
                let _ = writeln!(out, "{}", line.trim_end());
            }
        };
        let cause = |cause: &CauseChange| {
            let message = shortened(&cause.message, DETAIL);
            format!("{}: {message} ({})", visible(&cause.rule), counted(cause.tests, "test"))
        };
        let test = |test: &TestChange| {
            let (before, after) = (test.before.word(), test.after.word());
            format!("{}: {before} → {after}  {}", visible(&test.test), shortened(&test.detail, DETAIL))
        };
        section("new causes", '-', self.new.iter().map(cause).collect());
        section("causes that are gone", '+', self.gone.iter().map(cause).collect());
        section("worse", '-', self.worse.iter().map(test).collect());
        section("better", '+', self.better.iter().map(test).collect());
        if [self.new.len(), self.gone.len(), self.worse.len(), self.better.len()] == [0; 4] {
            out.push_str("no test is better or worse, and the causes are the same\n");
        }
        if !self.only_in_one.is_empty() {
            let count = self.only_in_one.len();
            let are = if count == 1 { "test is" } else { "tests are" };
            let _ = writeln!(out, "\n{count} {are} in only one of the runs");
        }
        out
    }
}

/// Returns the causes of a run that another one lacks.
fn without(run: &BetweenRun, other: &BetweenRun) -> Vec<CauseChange> {
    let is_same = |one: &BetweenCause, other: &BetweenCause| one.rule == other.rule && one.kind == other.kind;
    let own = run.causes.iter().filter(|cause| !other.causes.iter().any(|known| is_same(cause, known)));
    own.map(|cause| CauseChange {
        rule: cause.rule.clone(),
        kind: cause.kind.clone(),
        message: run.first_of(cause).map(|(_, finding)| finding.message.clone()).unwrap_or_default(),
        fails: cause.fails,
        tests: cause.tests,
    })
    .collect()
}

/// Returns what is wrong with a test.
fn detail(test: &BetweenTest) -> String {
    match test.findings.iter().find(|finding| finding.fails) {
        Some(finding) if test.verdict == Verdict::Fail => format!("{}: {}", finding.rule, finding.message),
        _ => test.reason.clone(),
    }
}
