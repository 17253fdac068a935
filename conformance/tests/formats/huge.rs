//! The report of a run with a hundred thousand findings is short.

use std::time::Instant;

use conformance::reports::Form;
use conformance::results::CaptureReport;

use crate::{FORMS, rendered, runs};

#[test]
#[expect(clippy::print_stderr, reason = "times are told, not tested")]
fn what_is_much_is_cut() {
    let one = runs::violated("a.sse", "text/equals-part");
    let finding = one.findings.first().expect("there is one").clone();
    let capture = |number: usize| CaptureReport {
        name: format!("captures/{number}.sse"),
        findings: vec![finding.clone(); 1000],
        ..one.clone()
    };
    let run = runs::run((0..100).map(capture).collect(), None);
    assert_eq!(run.totals.errors, 100_000 * finding.count);
    for (form, name) in FORMS {
        let start = Instant::now();
        let told = rendered(&run, form);
        eprintln!("{name}: {} bytes in {:?}", told.len(), start.elapsed());
        let (rows, most) = match form {
            Form::Human => (told.lines().count(), 400),
            Form::Junit => (told.lines().count(), 10_000),
            Form::Sarif => (told.matches("\"ruleId\"").count(), 5000),
            Form::Github => (told.lines().count(), 30),
            Form::Markdown => (told.lines().count(), 60),
            Form::Badge => (told.lines().count(), 1),
            // JSON is complete by design; HTML has a separate test.
            Form::Json | Form::Ndjson | Form::Html => (0, 0),
        };
        assert!(rows <= most, "{name}: {rows} rows");
        if matches!(form, Form::Human | Form::Junit) {
            assert!(told.contains(" more"), "{name} does not say that there is more");
        }
    }
}
