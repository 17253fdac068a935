//! A sheet as lines of JSON: one for each test, one for each cause, and one for the run.

use results::TestCause;
use serde::Serialize;
use serde_json::json;

use super::{Sheet, ToJson as _};

/// A cause, after the tests, with the message of its example.
#[derive(Serialize)]
struct OfCause<'r> {
    #[serde(flatten)]
    cause: &'r TestCause,
    message: &'r str,
    example: &'r str,
}

pub(super) fn ndjson(sheet: &Sheet<'_>) -> String {
    let tests = sheet.tests.iter().map(|test| line("test", &test.json.to_json()));
    let causes = sheet.causes.iter().map(|cause| {
        let example = sheet.tests[cause.test].name;
        line("cause", &OfCause { cause: cause.of, message: &cause.finding.message, example }.to_json())
    });
    let mut run = json!({
        "suite": sheet.suite,
        "outcome": sheet.outcome,
        "fail_on": sheet.fail_on,
        "levels": sheet.levels,
        "stale": sheet.stale,
    });
    if let (Some(run), Some(members)) = (run.as_object_mut(), sheet.members.as_object()) {
        run.extend(members.clone());
    }
    tests.chain(causes).chain([line("run", &run.to_json())]).collect()
}

/// Returns the line of an object, with its kind as the first member.
fn line(kind: &str, object: &str) -> String {
    format!("{{\"line\":\"{kind}\",{}\n", object.strip_prefix('{').unwrap_or(object))
}
