//! A run of a client or of a gateway, ready for each format.

mod diff;
mod github;
mod junit;
mod markdown;
mod ndjson;
pub(crate) mod rule;
mod sarif;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, escaped_json, visible};
use results::{
    ExpectedFailure, FailOn, LevelChange, Outcome, ProfileReport, Test, TestCause, TestFinding, Verdict,
    cause_counts,
};
use serde::Serialize;
use serde_json::Value;

use super::form::Form;
use super::json::json;
use super::style::{Detail, Screen};
use rule::RulePage;

pub use diff::{CauseChange, TestChange, TestsDiff};

/// A run of a client or of a gateway.
pub trait Reported: Serialize {
    /// Returns what all formats show of it.
    fn sheet(&self) -> Sheet<'_>;
    /// Renders it for a terminal.
    fn human(&self, detail: Detail, screen: Screen) -> String;
    /// Renders it as a page for browsers.
    fn html(&self) -> String;
}

/// Renders the report of a run of a client or of a gateway.
pub fn tests_report(run: &impl Reported, form: Form, detail: impl Into<Detail>, screen: Screen) -> String {
    let detail = detail.into();
    match form {
        Form::Human => run.human(detail, screen),
        Form::Html => run.html(),
        Form::Json => json(run),
        Form::Ndjson => ndjson::ndjson(&run.sheet()),
        Form::Junit => junit::junit(&run.sheet()),
        Form::Sarif => sarif::sarif(&run.sheet()),
        Form::Github => github::github(&run.sheet(), detail.level),
        Form::Markdown => markdown::markdown(&run.sheet()),
        Form::Badge => run.sheet().badge(),
    }
}

/// The content of a report.
pub struct Sheet<'r> {
    /// The command that made the run: `client` or `between`.
    pub(super) command: &'static str,
    /// The client with its version, or the gateway.
    pub(super) subject: String,
    /// The version of the suite.
    pub(super) suite: &'r str,
    pub(super) outcome: Outcome,
    pub(super) fail_on: FailOn,
    pub(super) levels: &'r [LevelChange],
    /// The name of groups of tests.
    pub(super) groups: &'static str,
    pub(super) tests: Vec<SheetTest<'r>>,
    pub(super) causes: Vec<SheetCause<'r>>,
    /// The numbers of tests.
    pub(super) overview: Table,
    /// Tables below the causes.
    pub(super) tables: Vec<Table>,
    pub(super) profiles: Vec<&'r ProfileReport>,
    /// The profiles that the run was asked for, and that keep it from passing.
    pub(super) unmet: Vec<&'r ProfileReport>,
    /// Lines about responses that were played to clients.
    pub(super) played: Vec<String>,
    /// Events outside of tests: a title, and a text.
    pub(super) remarks: Vec<(&'static str, String)>,
    pub(super) stale: &'r [String],
    /// The members that only such a run has.
    pub(super) members: Value,
    /// Returns the page of a rule in a group.
    pub(super) page: fn(&str, &str) -> Option<RulePage>,
    /// Returns the command that runs a test again.
    pub(super) again: Box<dyn Fn(&str) -> String + 'r>,
}

/// A table of texts, and numbers in the last columns.
pub(super) struct Table {
    pub(super) heads: Vec<String>,
    pub(super) numbers: usize,
    pub(super) rows: Vec<Vec<String>>,
}

/// A test.
pub struct SheetTest<'r> {
    /// Its name.
    pub name: &'r str,
    /// The name within its group.
    pub(super) short_name: &'r str,
    pub(super) group: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Its ending in a word, and how bad it is.
    pub(super) state: (&'static str, u8),
    pub(super) reason: &'r str,
    /// The findings.
    pub findings: &'r [TestFinding],
    /// Why it fails as expected.
    pub expected: Option<&'r str>,
    /// Texts that explain it, by name.
    pub(super) about: Vec<(&'static str, &'r str)>,
    pub(super) files: Vec<String>,
    pub(super) ms: u64,
    pub(super) json: &'r dyn ToJson,
}

/// A cause with its example.
pub(super) struct SheetCause<'r> {
    pub(super) of: &'r TestCause,
    pub(super) finding: &'r TestFinding,
    /// The number of the example.
    pub(super) test: usize,
    /// Lines about its response, which was played to clients.
    pub(super) played: Vec<String>,
}

/// Something that has a form in JSON.
pub(super) trait ToJson {
    fn to_json(&self) -> String;
}

impl<T: Serialize> ToJson for T {
    fn to_json(&self) -> String {
        escaped_json(&serde_json::to_string(self).unwrap_or_default()).into_owned()
    }
}

impl<'r> SheetTest<'r> {
    pub(super) fn new<A: Serialize>(test: &'r Test<A>, group: String, folder: Option<&str>) -> Self {
        Self {
            name: &test.name,
            short_name: &test.name,
            group,
            verdict: test.verdict,
            state: (test.verdict.word(), rank(test.verdict)),
            reason: &test.reason,
            findings: &test.findings,
            expected: test.expected.as_deref(),
            about: Vec::new(),
            files: files(test, folder),
            ms: test.ms,
            json: test,
        }
    }

    /// Returns what is wrong with it in one line each, the rest of the reason if nothing is.
    pub fn failures(&self) -> Vec<String> {
        let failing = self.findings.iter().filter(|finding| finding.fails);
        let lines: Vec<String> =
            failing.map(|finding| visible(&format!("{}: {}", finding.rule, finding.message))).collect();
        if lines.is_empty() { vec![visible(self.reason)] } else { lines }
    }

    fn sides<'s>(&'s self, finding: &'s TestFinding) -> impl Iterator<Item = (&'static str, &'s str)> {
        rule::sides(finding).into_iter().chain(self.about.iter().copied())
    }
}

/// Returns what is shown as the files of a test: through the folder of the run, if it has one.
pub(super) fn files<A>(test: &Test<A>, folder: Option<&str>) -> Vec<String> {
    let within = |file: &String| match folder {
        Some(folder) => format!("{}/{file}", folder.trim_end_matches('/')),
        None => file.clone(),
    };
    test.files.iter().map(within).collect()
}

const fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::NotExercised => 1,
        Verdict::HarnessError => 2,
        Verdict::Fail => 3,
    }
}

impl<'r> Sheet<'r> {
    /// Returns the tests.
    pub fn tests(&self) -> &[SheetTest<'r>] {
        &self.tests
    }

    /// Returns all failures by rule and test, so that they can be expected. Reasons that are known stay.
    pub fn failures(&self, known: &[ExpectedFailure]) -> Vec<ExpectedFailure> {
        let reason = |rule: &str, test: &str| {
            let is_it =
                |known: &&ExpectedFailure| known.rule == rule && known.tests.iter().any(|name| name == test);
            known.iter().find(is_it).map(|known| known.reason.clone()).unwrap_or_default()
        };
        let mut all: BTreeSet<(&str, String, &str)> = BTreeSet::new();
        for test in &self.tests {
            for finding in test.findings.iter().filter(|finding| finding.fails) {
                all.insert((&finding.rule, reason(&finding.rule, test.name), test.name));
            }
        }
        let mut failures: Vec<ExpectedFailure> = Vec::new();
        for (rule, reason, test) in all {
            match failures.last_mut().filter(|last| last.rule == rule && last.reason == reason) {
                Some(last) => last.tests.push(test.to_owned()),
                None => failures.push(ExpectedFailure {
                    rule: rule.to_owned(),
                    tests: vec![test.to_owned()],
                    reason,
                }),
            }
        }
        failures
    }

    fn count(&self, verdict: Verdict) -> u64 {
        self.tests.iter().filter(|test| test.verdict == verdict).count() as u64
    }

    /// Returns the numbers of tests that are not 0.
    pub(super) fn counts(&self) -> String {
        let expected = self.tests.iter().filter(|test| test.expected.is_some()).count() as u64;
        let counts = [
            (self.count(Verdict::Pass), "passed"),
            (self.count(Verdict::Fail) - expected, "failed"),
            (expected, "failed as expected"),
            (self.count(Verdict::NotExercised), "skipped"),
            (self.count(Verdict::HarnessError), "not judged"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        if counts.is_empty() { "no test".to_owned() } else { counts.join(", ") }
    }

    /// Returns the number of causes, and the terms of the verdict where they are not the usual ones.
    pub(super) fn terms(&self) -> Vec<String> {
        let all: Vec<TestCause> = self.causes.iter().map(|cause| cause.of.clone()).collect();
        let causes = (!all.is_empty()).then(|| cause_counts(&all));
        let over = (!self.stale.is_empty())
            .then(|| format!("{} over", counted(self.stale.len() as u64, "expected failure")));
        let fail_on =
            (self.fail_on != FailOn::default()).then(|| format!("fails on {}", self.fail_on.words()));
        let levels = (!self.levels.is_empty())
            .then(|| format!("levels changed: {}", LevelChange::words(self.levels, LEVELS)));
        [causes, over, fail_on, levels].into_iter().flatten().collect()
    }

    /// Returns the badge in the format of shields.io endpoints.
    fn badge(&self) -> String {
        let failed =
            self.tests.iter().filter(|test| test.verdict == Verdict::Fail && test.expected.is_none());
        let (mut message, color) = match (self.outcome, failed.count()) {
            (Outcome::Passed, _) => ("passed".to_owned(), "brightgreen"),
            (Outcome::Incomplete, _) => ("incomplete".to_owned(), "lightgrey"),
            (Outcome::Failed, 0) => ("failed".to_owned(), "red"),
            (Outcome::Failed, count) => (format!("failed: {}", counted(count as u64, "test")), "red"),
        };
        if !self.levels.is_empty() {
            let _ = write!(message, ", {} changed", counted(self.levels.len() as u64, "level"));
        }
        let label = format!("conformance {} {}", self.command, visible(&self.subject));
        let badge =
            serde_json::json!({ "schemaVersion": 1, "label": label, "message": message, "color": color });
        format!("{badge}\n")
    }
}

/// Maximum number of changed levels that are named.
const LEVELS: usize = 9;

impl<'r> SheetCause<'r> {
    pub(super) fn all<A>(
        causes: &'r [TestCause],
        tests: &'r [Test<A>],
        played: impl Fn(&TestCause) -> Vec<String>,
    ) -> Vec<Self> {
        let with_example = |of: &'r TestCause| {
            let [test, number] = of.first;
            Some(Self { of, finding: tests.get(test)?.findings.get(number)?, test, played: played(of) })
        };
        causes.iter().filter_map(with_example).collect()
    }

    fn page(&self, sheet: &Sheet<'_>) -> Option<RulePage> {
        (sheet.page)(&self.of.rule, self.of.groups.first().map_or("", String::as_str))
    }

    /// Returns the level of an annotation: what does not fail is no error.
    fn shown_level(&self) -> Level {
        match (self.of.fails, self.of.level) {
            (true, _) => Level::Must,
            (false, Level::Must) => Level::Should,
            (false, level) => level,
        }
    }
}
