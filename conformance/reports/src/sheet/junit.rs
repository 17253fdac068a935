//! A sheet as `JUnit` XML: a suite for each group of tests.

use std::fmt::Write as _;

use results::Verdict;
use results::text::{cut, grouped, visible};

use super::rule::window;
use super::{Sheet, SheetTest};
use crate::junit::{Case, Ending, Suite, document, of_profiles, passing};

/// Maximum number of findings of a test.
const FINDINGS: usize = 10;
/// Maximum number of characters of a side.
const SIDE: usize = 600;
/// Maximum number of characters of a message.
const MESSAGE: usize = 1000;

pub(super) fn junit(sheet: &Sheet<'_>) -> String {
    let groups = grouped(sheet.tests.iter().map(|test| (&*test.group, test)));
    let suites = groups.into_iter().map(|(name, tests)| Suite {
        name: name.to_owned(),
        time_ms: tests.iter().map(|test| test.ms).sum(),
        cases: tests.into_iter().map(|test| of_test(test, sheet)).collect(),
        ..Suite::default()
    });
    let over = passing(sheet.stale, ": remove it from the list");
    let profiles = of_profiles(sheet.unmet.iter().copied());
    let suites: Vec<Suite> = suites.chain(over).chain(profiles).collect();
    document(&format!("conformance {} {}", sheet.command, sheet.subject), &suites)
}

fn of_test(test: &SheetTest<'_>, sheet: &Sheet<'_>) -> Case {
    let ending = if test.expected.is_some() { Ending::Skipped } else { Ending::from(test.verdict) };
    let failing = || test.findings.iter().filter(|finding| finding.fails);
    let message = match (test.expected, test.verdict) {
        (Some(reason), _) => {
            let rules: Vec<&str> = failing().map(|finding| &*finding.rule).collect();
            format!("{}, as expected: {reason}", rules.join(", "))
        }
        (None, Verdict::Fail) => match failing().next() {
            Some(finding) => format!("{}: {}", finding.rule, finding.message),
            None => test.reason.to_owned(),
        },
        (None, _) => test.reason.to_owned(),
    };
    let mut out = String::new();
    for finding in test.findings.iter().take(FINDINGS) {
        let message = visible(&cut(&finding.message, MESSAGE));
        let _ = writeln!(out, "{} {}: {message}", finding.level.keyword(), visible(&finding.rule));
        for (name, side) in test.sides(finding) {
            let _ = writeln!(out, "  {name}: {}", visible(&window(finding, side, SIDE)));
        }
        if let Some(page) = (sheet.page)(&finding.rule, &test.group) {
            let _ = writeln!(out, "  fix: {}", visible(&page.fix));
        }
    }
    if test.findings.len() > FINDINGS {
        let _ = writeln!(out, "and {} more findings", test.findings.len() - FINDINGS);
    }
    if matches!(ending, Ending::Failed | Ending::Errored) {
        if out.is_empty() {
            let _ = writeln!(out, "{}", visible(test.reason));
        }
        let _ = writeln!(out, "again: {}", visible(&(sheet.again)(test.name)));
    }
    Case { name: test.short_name.to_owned(), ending, message, text: out, file: test.files.first().cloned() }
}
