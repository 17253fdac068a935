//! The report of both ends of a gateway as annotations of a GitHub workflow: one for each cause, the worst first.

use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, listed};
use results::{BetweenCause, BetweenRun, Verdict};

use super::super::github::{Annotation, lines, passing};
use super::rule::{page_of, sides, window};

/// Maximum number of pairs in a message.
const PAIRS: usize = 6;
/// Maximum number of characters of a side.
const SIDE: usize = 160;

pub(super) fn github(run: &BetweenRun) -> String {
    let mut all: Vec<Annotation> = run.causes.iter().filter_map(|cause| of_cause(run, cause)).collect();
    let unjudged = run.count(Verdict::HarnessError);
    if let Some(test) = run.tests.iter().find(|test| test.verdict == Verdict::HarnessError) {
        let message = format!("{}, first {}: {}", counted(unjudged, "test"), test.name, test.reason);
        all.push(Annotation::new(Level::Must, "not judged", message));
    }
    all.extend(passing(&run.stale));
    for request in &run.unaccounted {
        let message = format!("{}, {}", request.request, counted(request.times, "time"));
        all.push(Annotation::new(Level::May, "unaccounted request", message));
    }
    lines(&all)
}

fn of_cause(run: &BetweenRun, cause: &BetweenCause) -> Option<Annotation> {
    let (test, finding) = run.first_of(cause)?;
    let pairs = listed(&cause.pairs, PAIRS, String::clone);
    let mut message = format!("{} ({} of {pairs})", finding.message, counted(cause.tests, "test"));
    for (name, side) in sides(finding) {
        let _ = write!(message, "; {name}: {}", window(finding, side, SIDE));
    }
    if let Some(page) = page_of(cause) {
        let _ = write!(message, "; fix: {}", page.fix);
    }
    let _ = write!(message, "; example: {}", test.name);
    // What does not fail is no error of the workflow.
    let level = match (cause.fails, cause.level) {
        (true, _) => Level::Must,
        (false, Level::Must) => Level::Should,
        (false, level) => level,
    };
    Some(Annotation::new(level, &cause.rule, message))
}
