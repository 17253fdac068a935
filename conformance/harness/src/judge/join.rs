//! Checks of resumed streams, joined with their start.

use std::collections::BTreeSet;

use super::attempt::Attempt;
use super::differences::first_of;
use checker::Rules;
use recordings::capture::Format;
use recordings::check;
use results::text::visible;
use results::{FailOn, Judgement, Verdict};

/// A stream and its resumption are one good stream. Findings of a single part are reported there.
pub(super) fn joined(begun: &Attempt, rest: &Attempt, rules: &Rules, fail_on: FailOn) -> Judgement {
    let (Some(before), Some(after)) = (&begun.events, &rest.events) else {
        return Judgement::new(Verdict::NotExercised, "the stream is too long to be joined");
    };
    let whole = [before.as_slice(), after].concat();
    let report = check("joined", &mut whole.as_slice(), Some(Format::Sse), rules);
    let parts = begun.report.findings.iter().chain(&rest.report.findings);
    let mut known: BTreeSet<&str> = parts.map(|finding| finding.rule.as_ref()).collect();
    let failing = report.findings.iter().filter(|finding| fail_on.fails(finding));
    let found: Vec<String> = failing
        .filter(|finding| known.insert(finding.rule.as_ref()))
        .map(|finding| format!("{}: {}", finding.rule, visible(&finding.message)))
        .collect();
    if found.is_empty() {
        return Judgement::PASS;
    }
    let reason = format!("joined with the events before it, the stream breaks {}", first_of(&found));
    Judgement::new(Verdict::Fail, reason)
}
