//! The report of a client as `JUnit` XML: a suite for each group of cases.

use std::fmt::Write as _;

use results::text::visible;
use results::{ClientCaseReport, ClientOutcome, ClientRun};

use super::super::junit::{Case, Ending, Suite, document, of_profiles, passing};
use super::human::groups;

pub(super) fn junit(run: &ClientRun) -> String {
    let suites = groups(run).into_iter().map(|(name, cases)| Suite {
        name: name.to_owned(),
        time_ms: cases.iter().map(|case| case.ms).sum(),
        cases: cases.into_iter().map(|case| of_case(case, run.strict)).collect(),
        ..Suite::default()
    });
    let profiles = of_profiles(run.unmet().map(|(profile, _)| profile));
    let suites: Vec<Suite> = suites.chain(passing(&run.stale, "")).chain(profiles).collect();
    document(&format!("conformance client {}", run.title()), &suites)
}

fn of_case(case: &ClientCaseReport, is_strict: bool) -> Case {
    let ending = match case.outcome {
        _ if case.expected.is_some() => Ending::Skipped,
        ClientOutcome::NotExercised => Ending::Skipped,
        ClientOutcome::HarnessError => Ending::Errored,
        _ if case.has_failed(is_strict) => Ending::Failed,
        _ => Ending::Passed,
    };
    let mut text = String::new();
    if !matches!(case.outcome, ClientOutcome::Right | ClientOutcome::NotExercised) {
        text = format!(
            "{}: {}\n{}: {}\n",
            case.outcome.name(),
            visible(&case.detail),
            case.expect,
            visible(&case.reason)
        );
    }
    for problem in &case.requests {
        let _ = writeln!(text, "request: {}: {}", visible(&problem.rule), visible(&problem.message));
    }
    let message = match &case.expected {
        Some(reason) => format!("{}, as expected: {reason}", case.outcome.name()),
        None => format!("{}: {}", case.outcome.name(), case.detail),
    };
    Case { name: case.name.clone(), ending, message, text, file: None }
}
