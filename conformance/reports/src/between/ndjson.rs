//! The report of both ends of a gateway as lines of JSON: one for each test, one for each cause, and one for the run.

use results::text::escaped_json;
use results::{BetweenCause, BetweenPair, BetweenRun, BetweenTest, FailOn, Outcome, Unaccounted};
use serde::Serialize;

/// A line of the format.
#[derive(Debug, Serialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line<'r> {
    /// A test, with the members of a test of the JSON report.
    Test {
        #[serde(flatten)]
        test: &'r BetweenTest,
    },
    /// A cause, after the tests, with the message of its example.
    Cause {
        #[serde(flatten)]
        cause: &'r BetweenCause,
        message: &'r str,
        example: &'r str,
    },
    /// The run, at the end.
    Run {
        between_run: u32,
        suite: &'r str,
        gateway: &'r str,
        outcome: Outcome,
        fail_on: FailOn,
        pairs: &'r [BetweenPair],
        unaccounted: &'r [Unaccounted],
        stale: &'r [String],
    },
}

pub(super) fn ndjson(run: &BetweenRun) -> String {
    let tests = run.tests.iter().map(|test| Line::Test { test });
    let causes = run.causes.iter().filter_map(|cause| {
        let (test, finding) = run.first_of(cause)?;
        Some(Line::Cause { cause, message: &finding.message, example: &test.name })
    });
    let last = Line::Run {
        between_run: run.between_run,
        suite: &run.suite,
        gateway: &run.gateway,
        outcome: run.outcome,
        fail_on: run.fail_on,
        pairs: &run.pairs,
        unaccounted: &run.unaccounted,
        stale: &run.stale,
    };
    let line =
        |line: Line<'_>| escaped_json(&serde_json::to_string(&line).unwrap_or_default()).into_owned() + "\n";
    tests.chain(causes).chain([last]).map(line).collect()
}
