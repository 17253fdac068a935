//! The sheets of clients and gateways: tests, and causes with an example.

pub(crate) mod html;
mod human;
pub(crate) mod rule;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

use catalogue::Level;
use results::text::{counted, cut, grouped, visible};
use results::{
    FailOn, LevelChange, Outcome, ProfileReport, Step, Test, TestCause, TestFinding, Verdict, cause_counts,
    first_of,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::sheet::{
    Cell, Compared, FilePlace, Later, Note, Remark, Section, Sheet, SheetCause, SheetFinding, SheetGroup,
    SheetResult, SheetRule, SheetTest, Side, hash, line, state,
};
use rule::{RulePage, level_of, sides, window};

/// Maximum number of characters of a side.
const SIDE: usize = 600;
/// Maximum number of characters of a side in a line.
const SHORT: usize = 300;
/// Maximum number of characters of a message.
const MESSAGE: usize = 1000;
/// Maximum number of changed levels that are named.
const LEVELS: usize = 9;

/// Texts by name.
type Named<'t> = Vec<(&'static str, &'t str)>;

/// Tells something about a test or a cause.
pub(crate) type About<'r, T, A> = Box<dyn Fn(&T) -> A + 'r>;

/// A run of a client or of a gateway.
pub(super) struct Tested<'r, A> {
    /// The command that made it: `client` or `between`.
    pub(super) command: &'static str,
    /// The client with its version, or the gateway.
    pub(super) subject: String,
    pub(super) suite: &'r str,
    pub(super) outcome: Outcome,
    pub(super) fail_on: FailOn,
    pub(super) levels: &'r [LevelChange],
    pub(super) tests: &'r [Test<A>],
    pub(super) causes: &'r [TestCause],
    pub(super) stale: &'r [String],
    pub(super) unmet: Vec<&'r ProfileReport>,
    /// The folder that it was written to or read from.
    pub(super) folder: Option<&'r str>,
    pub(super) group: fn(&Test<A>) -> String,
    pub(super) short_name: fn(&Test<A>) -> &str,
    /// The ending of a test in a word, and how bad it is, if that is known.
    pub(super) state: fn(&Test<A>) -> (&'static str, Option<u8>),
    /// A test in a line.
    pub(super) title: fn(&Test<A>) -> &str,
    /// The dialect, where all tests have the same.
    pub(super) dialect: Option<String>,
    pub(super) model: Option<&'r str>,
    pub(super) noun: &'static str,
    /// Texts by name that explain a test, or one of its findings.
    pub(super) about: for<'t> fn(&'t Test<A>, Option<&TestFinding>) -> Named<'t>,
    pub(super) page: fn(&str, &str) -> Option<RulePage>,
    /// The command that runs a test again.
    pub(super) again: About<'r, Test<A>, String>,
    /// Lines about the response of a cause, if it was played to clients.
    pub(super) played: About<'r, TestCause, Vec<String>>,
    pub(super) below: Vec<Cell>,
    pub(super) sections: Later<'r, Vec<Section>>,
    /// Events outside of tests.
    pub(super) notes: Vec<Note>,
    pub(super) steps: Vec<Step>,
    pub(super) ms: u64,
    pub(super) report: Later<'r, Value>,
}

impl<'r, A: Serialize> Tested<'r, A> {
    pub(super) fn sheet(self) -> Sheet<'r> {
        let Self { command, suite, outcome, fail_on, stale, tests, causes, .. } = self;
        let of = Rc::new(self);
        let of_all = |text: String| (!causes.is_empty()).then(|| format!("{text}{}", cause_counts(causes)));
        let not_judged = of.unjudged().into_iter().map(|(reason, names)| {
            let count = counted(names.len() as u64, "test");
            Note::new(Level::Must, "not judged", format!("{reason} ({count}, first {})", names[0]))
        });
        let failed = tests.iter().filter(|test| test.has_failed()).count() as u64;
        let counts = format!(": {}{}", counts(tests), of_all(" · ".to_owned()).unwrap_or_default());
        let [groups, sections, rules, results, lines] = std::array::from_fn(|_| Rc::clone(&of));
        Sheet {
            title: format!("conformance {command} {}", of.subject),
            id: format!("conformance-{command}/{}/", of.subject),
            suite,
            outcome,
            fail_on,
            state: state(outcome, Some((failed, "test")).filter(|_| failed > 0), of.levels.len()),
            began: None,
            intro: vec![vec![Cell::code(&*of.subject), Cell::plain(counts)]],
            terms: terms(fail_on, of.levels),
            groups: Box::new(move || groups.groups()),
            facts: Vec::new(),
            causes: causes.iter().filter_map(|cause| of.cause(cause)).collect(),
            below: of.below.clone(),
            sections: Box::new(move || sections.sections()),
            notes: not_judged.chain(of.notes.iter().cloned()).collect(),
            stale,
            unmet: of.unmet.clone(),
            rules: Box::new(move || rules.rules()),
            results: Box::new(move |most| results.results(most)),
            properties: json!({ "subject": visible(&of.subject) }),
            lines: Box::new(move || lines.lines()),
            compared: Compared {
                side: Side {
                    suite: suite.to_owned(),
                    target: Some(of.subject.clone()),
                    model: of.model.map(str::to_owned),
                    outcome,
                    captures: None,
                    tests: Some(tests.len() as u64),
                },
                dialect: "",
                options: options(fail_on, of.levels).into(),
                nouns: Some(["test", of.noun]),
                rules: Box::new(Vec::new),
            },
        }
    }

    fn groups(&self) -> Vec<SheetGroup<'r>> {
        let groups = grouped(self.tests.iter().map(|test| ((self.group)(test), self.test(test))));
        groups.into_iter().map(|(name, tests)| SheetGroup { name, remarks: String::new(), tests }).collect()
    }

    fn test(&self, test: &'r Test<A>) -> SheetTest<'r> {
        let failing = || test.findings.iter().filter(|finding| finding.fails);
        let first = failing().next().filter(|_| test.verdict == Verdict::Fail);
        let message = match (&test.expected, first) {
            (Some(reason), _) => {
                let rules: Vec<&str> = failing().map(|finding| &*finding.rule).collect();
                format!("{}, as expected: {reason}", rules.join(", "))
            }
            (None, Some(finding)) => format!("{}: {}", finding.rule, finding.message),
            (None, None) => test.reason.clone(),
        };
        let (about, page, group) = (self.about, self.page, self.group);
        let finding = |finding: &'r TestFinding| SheetFinding {
            rule: &finding.rule,
            fails: finding.fails,
            message: &finding.message,
            in_full: Box::new(move || {
                let message = visible(&cut(&finding.message, MESSAGE));
                let mut out = format!("{} {}: {message}\n", finding.level.keyword(), visible(&finding.rule));
                for (name, side) in explained(finding, &about(test, Some(finding)), SIDE) {
                    let _ = writeln!(out, "  {name}: {}", visible(&side));
                }
                if let Some(page) = page(&finding.rule, &group(test)) {
                    let _ = writeln!(out, "  fix: {}", visible(&page.fix));
                }
                out
            }),
        };
        SheetTest {
            name: Cow::Borrowed(&test.name),
            short_name: Cow::Borrowed((self.short_name)(test)),
            verdict: test.verdict,
            state: (self.state)(test),
            message,
            reason: Cow::Borrowed(&test.reason),
            findings: test.findings.iter().map(finding).collect(),
            expected: test.expected.as_deref(),
            file: files(test, self.folder).into_iter().next(),
            again: test.is_due().then(|| (self.again)(test)),
            ms: test.ms,
        }
    }

    fn cause(&self, of: &'r TestCause) -> Option<SheetCause<'r>> {
        let (test, finding) = first_of(self.tests, of)?;
        let lines = |name: &'static str, lines: &[String]| -> Vec<Remark> {
            lines.iter().map(|line| (name, Cell::code(line))).collect()
        };
        let sides = explained(finding, &(self.about)(test, Some(finding)), SHORT);
        let mut remarks: Vec<Remark> =
            sides.into_iter().map(|(name, side)| (name, Cell::Code(side))).collect();
        let names = |name: &'static str, all: &[String]| (name, Cell::codes(all));
        remarks.extend((!finding.breaks.is_empty()).then(|| names("breaks", &finding.breaks)));
        remarks.extend(lines("harms", &of.agents));
        remarks.extend(lines("played", &(self.played)(of)));
        remarks.extend(self.page_of(of).map(|page| ("fix", Cell::Code(page.fix))));
        remarks.push(("level", Cell::Plain(level_of(of))));
        remarks.push(("example", Cell::code(&test.name)));
        let files = files(test, self.folder);
        remarks.extend((!files.is_empty()).then(|| names("recordings", &files)));
        remarks.push(("again", Cell::Code((self.again)(test))));
        Some(SheetCause {
            heading: "Causes",
            rule: &of.rule,
            kind: &of.kind,
            level: of.level,
            // A test that does not fail is no error.
            sign: match (of.fails, of.level) {
                (true, _) => Level::Must,
                (false, Level::Must) => Level::Should,
                (false, level) => level,
            },
            fails: of.fails,
            message: Cow::Borrowed(&finding.message),
            extent: vec![Cell::Plain(format!("{} of ", counted(of.tests, "test"))), Cell::codes(&of.groups)],
            times: of.tests,
            remarks,
            file: None,
        })
    }

    fn page_of(&self, cause: &TestCause) -> Option<RulePage> {
        (self.page)(&cause.rule, cause.groups.first().map_or("", String::as_str))
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections = (self.sections)();
        let rows = self.unjudged().into_iter().map(|(reason, tests)| {
            let count = Cell::plain(tests.len().to_string());
            vec![Cell::code(reason), Cell::codes(tests), count]
        });
        sections.push(Section::table("Not judged", ["because", "tests", "number"], 1, rows));
        sections
    }

    /// The tests that could not be judged, by reason.
    fn unjudged(&self) -> Vec<(&'r str, Vec<&'r str>)> {
        grouped(of_verdict(self.tests, Verdict::HarnessError).map(|test| (&*test.reason, &*test.name)))
    }

    fn rules(&self) -> Vec<SheetRule> {
        let by_rule = grouped(self.causes.iter().map(|cause| (&cause.rule, cause)));
        let rule = |(id, causes): (&String, Vec<&TestCause>)| {
            let page = self.page_of(causes[0]);
            let (title, help, page, address) = page.map(RulePage::for_scanning).unwrap_or_default();
            SheetRule { id: id.clone(), level: causes[0].level, title, help, page, address }
        };
        by_rule.into_iter().map(rule).collect()
    }

    fn results(&self, most: usize) -> (Vec<SheetResult<'r>>, u64) {
        let result = |of: &'r TestCause| {
            let (test, _) = first_of(self.tests, of)?;
            let mut names = files(test, self.folder);
            // Code scanning refuses results without a file, so that a test stands for what was not kept.
            if names.is_empty() {
                names.push(test.name.clone());
            }
            let place = |file: String| FilePlace { file: file.into(), at: None, label: "" };
            Some(SheetResult {
                rule: Cow::Borrowed(&of.rule),
                level: of.level,
                text: self.cause(of)?.line(),
                times: of.tests,
                places: names.into_iter().map(place).collect(),
                fingerprint: hash(&[&of.rule, &of.kind]),
                properties: json!({
                    "test": visible(&test.name), "kind": visible(&of.kind), "fails": of.fails,
                }),
            })
        };
        let results = self.causes.iter().take(most).filter_map(result).collect();
        (results, self.causes.len().saturating_sub(most) as u64)
    }

    /// A line for each test, one for each cause, and one for the run.
    fn lines(&self) -> String {
        let tests = self.tests.iter().map(|test| line("test", test));
        let causes = self.causes.iter().filter_map(|cause| {
            let (test, finding) = first_of(self.tests, cause)?;
            let cause = json!({ "cause": cause, "message": finding.message, "example": test.name });
            Some(line("cause", &cause))
        });
        let mut run = (self.report)();
        if let Some(members) = run.as_object_mut() {
            members.retain(|name, _| !matches!(name.as_str(), "tests" | "causes"));
        }
        tests.chain(causes).chain([line("run", &run)]).collect()
    }
}

fn of_verdict<A>(tests: &[Test<A>], verdict: Verdict) -> impl Iterator<Item = &Test<A>> {
    tests.iter().filter(move |test| test.verdict == verdict)
}

/// Both sides of a finding, and the texts that explain its test.
fn explained(
    finding: &TestFinding,
    about: &[(&'static str, &str)],
    most: usize,
) -> Vec<(&'static str, String)> {
    let sides = sides(finding).into_iter().chain(about.iter().copied());
    sides.map(|(name, side)| (name, window(finding, side, most))).collect()
}

pub(super) fn counts<A>(tests: &[Test<A>]) -> String {
    let count = |verdict| of_verdict(tests, verdict).count() as u64;
    let expected = tests.iter().filter(|test| test.expected.is_some()).count() as u64;
    let counts = [
        (count(Verdict::Pass), "passed"),
        (count(Verdict::Fail) - expected, "failed"),
        (expected, "failed as expected"),
        (count(Verdict::NotExercised), "skipped"),
        (count(Verdict::HarnessError), "not judged"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    if counts.is_empty() { "no test".to_owned() } else { counts.join(", ") }
}

/// The terms of a verdict where they are not the usual ones.
pub(super) fn terms(fail_on: FailOn, levels: &[LevelChange]) -> Vec<(&'static str, String)> {
    let fails = (fail_on != FailOn::default()).then(|| ("fails on", fail_on.words().to_owned()));
    let levels = (!levels.is_empty()).then(|| ("levels changed", LevelChange::words(levels, LEVELS)));
    fails.into_iter().chain(levels).collect()
}

/// The terms of a verdict, for a comparison of runs.
pub(crate) fn options(fail_on: FailOn, levels: &[LevelChange]) -> [(&'static str, String); 2] {
    let changed: Vec<String> = levels.iter().map(LevelChange::to_string).collect();
    let changed = if changed.is_empty() { "none".to_owned() } else { changed.join(", ") };
    [("fails on", fail_on.words().to_owned()), ("levels changed", changed)]
}

/// The files of a test, through the folder of the run if it has one.
pub(super) fn files<A>(test: &Test<A>, folder: Option<&str>) -> Vec<String> {
    let within = |file: &String| match folder {
        Some(folder) => format!("{}/{file}", folder.trim_end_matches('/')),
        None => file.clone(),
    };
    test.files.iter().map(within).collect()
}

/// The ending of a test by its verdict, and how bad it is, if that is known.
pub(crate) const fn by_verdict(verdict: Verdict) -> (&'static str, Option<u8>) {
    let rank = match verdict {
        Verdict::Pass => Some(0),
        Verdict::Fail => Some(1),
        Verdict::NotExercised | Verdict::HarnessError => None,
    };
    (verdict.name(), rank)
}
