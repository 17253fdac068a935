//! Comparison of two runs of both ends of a gateway.

use std::collections::BTreeMap;

use results::text::{counted, shortened, visible};
use results::{BetweenCause, BetweenRun, BetweenTest, Verdict};
use serde::Serialize;

use super::super::diff::{only_in_one, section};
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
        let [old, new] = [before, after].map(by_name);
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
            let Some(known) = old.get(&*test.name) else {
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
            let (before, after) = (test.before.word(), test.after.word());
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

fn by_name(run: &BetweenRun) -> BTreeMap<&str, &BetweenTest> {
    run.tests.iter().map(|test| (&*test.name, test)).collect()
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
