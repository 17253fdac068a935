//! The comparison of several runs, in the formats of files: it belongs to none of their reports.

use std::fmt::Write as _;

use super::form::Form;
use super::sheet::junit::{Case, Suite, document};
use super::sheet::markdown::{cell, code};
use results::text::visible;
use results::{TwinResult, TwinsReport, Verdict};

/// Returns the comparison in a format; none if that has no place for it.
pub fn twins_in(report: &TwinsReport, form: Form) -> Option<String> {
    match form {
        Form::Json => Some(serde_json::to_string_pretty(report).unwrap_or_default() + "\n"),
        Form::Junit => Some(junit(report)),
        Form::Markdown => Some(markdown(report)),
        _ => None,
    }
}

fn junit(report: &TwinsReport) -> String {
    let case = |twin: &TwinResult| Case {
        name: twin.name.clone(),
        ending: twin.judged.verdict.into(),
        message: twin.judged.reason.clone(),
        text: twin.notes.iter().map(|note| visible(note)).collect::<Vec<_>>().join("\n"),
        ..Case::default()
    };
    let cases = report.twins.iter().map(case).collect();
    let suite = Suite { name: "twins".to_owned(), cases, ..Suite::default() };
    document(&format!("conformance {}", report.dialects.join(" ")), None, &[suite])
}

fn markdown(report: &TwinsReport) -> String {
    let mut out = format!("## The same scenario over each API\n\n{}: {}.\n", names(report), report.tally());
    let failed: Vec<&TwinResult> =
        report.twins.iter().filter(|twin| twin.judged.verdict == Verdict::Fail).collect();
    if !failed.is_empty() {
        out += "\n| scenario | difference |\n|---|---|\n";
    }
    for twin in failed {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} | {} |", code(&twin.name), cell(&twin.judged.reason));
    }
    out
}

fn names(report: &TwinsReport) -> String {
    report.dialects.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Judgement;

    fn report() -> TwinsReport {
        let twin = |name: &str, judged| TwinResult {
            name: format!("twins::{name}"),
            judged,
            notes: vec!["tokens".to_owned()],
            declared: Vec::new(),
        };
        TwinsReport {
            dialects: vec!["openai".to_owned(), "chat".to_owned()],
            twins: vec![
                twin("text/hello", Judgement::PASS),
                twin("call/single", Judgement::new(Verdict::Fail, "calls: <a> | b, but none")),
                twin("text/long", Judgement::new(Verdict::NotExercised, "no answers")),
            ],
            ..TwinsReport::default()
        }
    }

    #[test]
    fn each_verdict_is_a_case_of_junit() {
        let text = twins_in(&report(), Form::Junit).unwrap();
        assert!(text.contains(r#"tests="3" failures="1""#), "{text}");
        assert!(text.contains("calls: &lt;a&gt; | b, but none"), "{text}");
        assert!(text.contains("<skipped"), "{text}");
    }

    #[test]
    fn differences_are_rows_of_markdown() {
        let text = twins_in(&report(), Form::Markdown).unwrap();
        assert!(text.contains("`openai`, `chat`: 1 passed, 1 failed, 1 not exercised."), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("twins::")).collect();
        assert_eq!(rows, [r"| `twins::call/single` | `calls: <a> \u{7c} b, but none` |"]);
    }

    #[test]
    fn other_formats_have_no_place_for_it() {
        assert_eq!(twins_in(&report(), Form::Sarif), None);
        let again: TwinsReport = serde_json::from_str(&twins_in(&report(), Form::Json).unwrap()).unwrap();
        assert_eq!(again, report());
    }
}
