//! The report of both ends of a gateway as `JUnit` XML: a suite for each pair of APIs.

use std::fmt::Write as _;

use results::text::{cut, visible};
use results::{BetweenRun, BetweenTest, Verdict};

use super::super::junit::{Case, Ending, Suite, document, passing};
use super::rule::{files, page, sides, window};

/// Maximum number of findings of a test.
const FINDINGS: usize = 10;
/// Maximum number of characters of a side.
const SIDE: usize = 600;
/// Maximum number of characters of a message.
const MESSAGE: usize = 1000;

pub(super) fn junit(run: &BetweenRun) -> String {
    let mut suites: Vec<Suite> = Vec::new();
    for pair in &run.pairs {
        let own: Vec<&BetweenTest> = run
            .tests
            .iter()
            .filter(|test| test.front == pair.front && test.upstream == pair.upstream)
            .collect();
        suites.push(Suite {
            name: format!("{}-{}", pair.front, pair.upstream),
            time_ms: own.iter().map(|test| test.ms).sum(),
            cases: own.into_iter().map(|test| of_test(test, run)).collect(),
            ..Suite::default()
        });
    }
    suites.extend(passing(&run.stale, ": remove it from the list"));
    document(&format!("conformance between {}", run.gateway), &suites)
}

fn of_test(test: &BetweenTest, run: &BetweenRun) -> Case {
    let ending = if test.expected.is_some() { Ending::Skipped } else { Ending::from(test.verdict) };
    let failing: Vec<&str> =
        test.findings.iter().filter(|finding| finding.fails).map(|finding| &*finding.rule).collect();
    let message = match (&test.expected, test.verdict) {
        (Some(reason), _) => format!("{}, as expected: {reason}", failing.join(", ")),
        (None, Verdict::Fail) => match test.findings.iter().find(|finding| finding.fails) {
            Some(finding) => format!("{}: {}", finding.rule, finding.message),
            None => test.reason.clone(),
        },
        (None, _) => test.reason.clone(),
    };
    let mut out = String::new();
    for finding in test.findings.iter().take(FINDINGS) {
        let message = visible(&cut(&finding.message, MESSAGE));
        let _ = writeln!(out, "{} {}: {message}", finding.level.keyword(), visible(&finding.rule));
        for (name, side) in sides(finding) {
            let _ = writeln!(out, "  {name}: {}", visible(&window(finding, side, SIDE)));
        }
        if let Some(page) = page(&finding.rule, &test.front) {
            let _ = writeln!(out, "  fix: {}", visible(&page.fix));
        }
    }
    if test.findings.len() > FINDINGS {
        let _ = writeln!(out, "and {} more findings", test.findings.len() - FINDINGS);
    }
    if matches!(ending, Ending::Failed | Ending::Errored) {
        if out.is_empty() {
            let _ = writeln!(out, "{}", visible(&test.reason));
        }
        let _ = writeln!(out, "again: {}", visible(&run.command_of(test)));
    }
    let file = files(run, test).into_iter().next();
    Case { name: test.short_name().to_owned(), ending, message, text: out, file }
}
