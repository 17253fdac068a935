//! A run, ready for each format: an adapter fills a sheet, and a renderer for each format reads it.

mod badge;
mod compared;
mod github;
pub(crate) mod junit;
pub(crate) mod markdown;
mod ndjson;
mod sarif;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use catalogue::Level;
use results::text::{listed, visible};
use results::{ExpectedFailure, FailOn, Location, Outcome, ProfileReport, Verdict};
use serde_json::Value;

pub(super) use badge::{badge, state};
pub(super) use compared::Compared;
pub use compared::{RuleState, Side};
pub(super) use github::github;
pub(super) use junit::junit;
pub(super) use markdown::markdown;
pub(super) use ndjson::{line, ndjson};
pub(super) use sarif::{hash, sarif};

/// Something that only few formats need.
pub(super) type Later<'r, T> = Box<dyn Fn() -> T + 'r>;

/// The content of a report.
pub struct Sheet<'r> {
    /// The subject of the run behind the command.
    pub(super) title: String,
    /// By which code scanning tells runs apart.
    pub(super) id: String,
    pub(super) suite: &'r str,
    pub(super) outcome: Outcome,
    pub(super) fail_on: FailOn,
    /// The outcome in a few words.
    pub(super) state: String,
    pub(super) began: Option<&'r str>,
    /// Sentences about the whole run.
    pub(super) intro: Vec<Vec<Cell>>,
    /// The terms of the verdict that differ from the usual ones, by name.
    pub(super) terms: Vec<(&'static str, String)>,
    pub(super) groups: Later<'r, Vec<SheetGroup<'r>>>,
    /// Lists of facts that are no tests: a name, and texts by name.
    pub(super) facts: Vec<(&'static str, Vec<(String, String)>)>,
    /// The worst first.
    pub(super) causes: Vec<SheetCause<'r>>,
    /// Remarks on all causes.
    pub(super) below: Vec<Cell>,
    pub(super) sections: Later<'r, Vec<Section>>,
    pub(super) notes: Vec<Note>,
    /// Expected failures that passed.
    pub(super) stale: &'r [String],
    /// The profiles that the run was asked for, and that keep it from passing.
    pub(super) unmet: Vec<&'r ProfileReport>,
    pub(super) rules: Later<'r, Vec<SheetRule>>,
    /// Up to a number of findings for code scanning, and the number of the others.
    pub(super) results: Box<dyn Fn(usize) -> (Vec<SheetResult<'r>>, u64) + 'r>,
    /// Values that only such a run has.
    pub(super) properties: Value,
    pub(super) lines: Later<'r, String>,
    pub(super) compared: Compared<'r>,
}

pub(super) struct SheetGroup<'r> {
    pub(super) name: String,
    pub(super) remarks: String,
    pub(super) tests: Vec<SheetTest<'r>>,
}

/// A test.
#[derive(Default)]
pub struct SheetTest<'r> {
    /// Its name.
    pub name: Cow<'r, str>,
    /// The name within its group.
    pub(super) short_name: Cow<'r, str>,
    /// The verdict.
    pub verdict: Verdict,
    /// Its ending in a word, and how bad it is, if that is known.
    pub(super) state: (&'static str, Option<u8>),
    /// The first failure in a line, or the reason.
    pub(super) message: String,
    pub(super) reason: Cow<'r, str>,
    pub(super) findings: Vec<SheetFinding<'r>>,
    /// Why it fails as expected.
    pub expected: Option<&'r str>,
    pub(super) file: Option<String>,
    /// The command that runs it again.
    pub(super) again: Option<String>,
    pub(super) ms: u64,
}

pub(super) struct SheetFinding<'r> {
    pub(super) rule: &'r str,
    pub(super) fails: bool,
    pub(super) message: &'r str,
    pub(super) in_full: Later<'r, String>,
}

/// Findings with one reason.
pub(super) struct SheetCause<'r> {
    pub(super) heading: &'static str,
    pub(super) rule: &'r str,
    /// Distinguishes the causes of a rule.
    pub(super) kind: &'r str,
    pub(super) level: Level,
    /// The level of its sign, which says what fails.
    pub(super) sign: Level,
    pub(super) fails: bool,
    pub(super) message: Cow<'r, str>,
    /// How often and where it was seen.
    pub(super) extent: Vec<Cell>,
    pub(super) times: u64,
    pub(super) remarks: Vec<Remark>,
    /// A file of the repository, and a line.
    pub(super) file: Option<(String, u64)>,
}

/// A text about a cause, with its name.
pub(super) type Remark = (&'static str, Cell);

#[derive(Clone)]
pub(super) enum Cell {
    /// Text of the suite.
    Plain(String),
    /// Text of others, which has no effect.
    Code(String),
    Codes(Vec<String>),
}

/// Lists and tables of a report for people.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) intro: &'static str,
    /// The heads of the columns; without them, it is a list.
    pub(super) heads: Vec<String>,
    /// The number of columns with numbers, which are the last ones.
    pub(super) numbers: usize,
    pub(super) rows: Vec<Row>,
}

/// A row of a section, or an item of a list at some depth.
pub(super) struct Row {
    pub(super) depth: usize,
    pub(super) cells: Vec<Cell>,
}

/// Something that happened outside of findings.
#[derive(Clone)]
pub(super) struct Note {
    pub(super) level: Level,
    pub(super) title: &'static str,
    pub(super) text: String,
    pub(super) file: Option<String>,
    /// Whether it is worth a line in a log only.
    pub(super) is_minor: bool,
}

pub(super) struct SheetRule {
    pub(super) id: String,
    pub(super) level: Level,
    pub(super) title: String,
    pub(super) help: String,
    /// Its page, as Markdown.
    pub(super) page: String,
    pub(super) address: Option<String>,
}

pub(super) struct SheetResult<'r> {
    pub(super) rule: Cow<'r, str>,
    pub(super) level: Level,
    pub(super) text: String,
    pub(super) times: u64,
    /// Where it is, and related places.
    pub(super) places: Vec<FilePlace<'r>>,
    /// Code scanning knows a result by it while lines move.
    pub(super) fingerprint: String,
    pub(super) properties: Value,
}

pub(super) struct FilePlace<'r> {
    pub(super) file: Cow<'r, str>,
    /// The first line, if there is none.
    pub(super) at: Option<&'r Location>,
    pub(super) label: &'r str,
}

impl SheetTest<'_> {
    /// Returns what is wrong with it in one line each, the rest of the reason if nothing is.
    pub fn failures(&self) -> Vec<String> {
        let failing = self.findings.iter().filter(|finding| finding.fails);
        let lines: Vec<String> =
            failing.map(|finding| visible(&format!("{}: {}", finding.rule, finding.message))).collect();
        if lines.is_empty() { vec![visible(&self.reason)] } else { lines }
    }
}

impl<'r> Sheet<'r> {
    /// The tests.
    pub fn tests(&self) -> Vec<SheetTest<'r>> {
        (self.groups)().into_iter().flat_map(|group| group.tests).collect()
    }

    /// Returns all failures by rule and test, so that they can be expected. Reasons that are known stay.
    pub fn failures(&self, known: &[ExpectedFailure]) -> Vec<ExpectedFailure> {
        let reason = |rule: &str, test: &str| {
            let is_it =
                |known: &&ExpectedFailure| known.rule == rule && known.tests.iter().any(|name| name == test);
            known.iter().find(is_it).map(|known| known.reason.clone()).unwrap_or_default()
        };
        let tests = self.tests();
        let mut all: BTreeSet<(&str, String, &str)> = BTreeSet::new();
        for test in &tests {
            for finding in test.findings.iter().filter(|finding| finding.fails) {
                all.insert((finding.rule, reason(finding.rule, &test.name), &test.name));
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
}

/// Maximum number of names in a line.
const NAMES: usize = 9;
/// Remarks that are too long for a line.
const LONG: [&str; 4] = ["again", "harms", "played", "recordings"];

impl SheetCause<'_> {
    /// Whether it is shown from a level on: one that fails is shown whatever its level is.
    pub(super) fn is_shown(&self, from: Level) -> bool {
        self.level >= from || self.fails
    }

    /// The message with the most important remarks.
    pub(super) fn line(&self) -> String {
        let extent: String = self.extent.iter().map(Cell::text).collect();
        let mut text = format!("{} ({extent})", self.message);
        let is_told = |name| LONG.contains(name) || *name == "first in" && self.file.is_some();
        for (name, cell) in self.remarks.iter().filter(|(name, _)| !is_told(name)) {
            let _ = write!(text, "; {name}: {}", cell.text());
        }
        text
    }
}

impl Cell {
    pub(super) fn code(text: impl Into<String>) -> Self {
        Self::Code(text.into())
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::Plain(text.into())
    }

    pub(super) fn codes<T: AsRef<str>>(all: impl IntoIterator<Item = T>) -> Self {
        Self::Codes(all.into_iter().map(|text| text.as_ref().to_owned()).collect())
    }

    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(text) | Self::Code(text) => text.into(),
            Self::Codes(all) => listed(all, NAMES, String::clone).into(),
        }
    }
}

impl Section {
    /// A list of a report; none if it has no rows.
    pub(super) fn list(title: &'static str, rows: impl IntoIterator<Item = Row>) -> Self {
        Self { title, intro: "", heads: Vec::new(), numbers: 0, rows: rows.into_iter().collect() }
    }

    pub(super) fn table<H: Into<String>>(
        title: &'static str,
        heads: impl IntoIterator<Item = H>,
        numbers: usize,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let rows = rows.into_iter().map(|cells| Row { depth: 0, cells });
        Self { heads: heads.into_iter().map(Into::into).collect(), numbers, ..Self::list(title, rows) }
    }

    pub(super) fn profiles<'p>(all: impl IntoIterator<Item = &'p ProfileReport>) -> Self {
        let row = |profile: &ProfileReport| {
            let (state, unmet) = (Cell::plain(profile.state.name()), Cell::codes(profile.unmet()));
            vec![Cell::code(&profile.name), state, unmet, Cell::Plain(profile.version.to_string())]
        };
        let heads = ["profile", "result", "because of", "version"];
        Self::table("Profiles", heads, 1, all.into_iter().map(row))
    }
}

impl Row {
    pub(super) fn new(cells: impl Into<Vec<Cell>>) -> Self {
        Self { depth: 0, cells: cells.into() }
    }

    pub(super) fn below(cells: impl Into<Vec<Cell>>) -> Self {
        Self { depth: 1, cells: cells.into() }
    }
}

impl Note {
    pub(super) fn new(level: Level, title: &'static str, text: String) -> Self {
        Self { level, title, text, file: None, is_minor: false }
    }
}
