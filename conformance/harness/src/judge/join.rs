//! Checks of resumed streams, joined with their start.

use super::attempt::Attempt;
use checker::Rules;
use recordings::capture::Format;
use recordings::check;
use results::text::visible;
use results::{FailOn, Judgement, Verdict};

/// Maximum number of broken rules to report.
const MAX_RULES: usize = 3;

/// Checks that a stream and its resumption are one good stream. Findings of a single part are reported there.
pub(super) fn joined(begun: &Attempt, rest: &Attempt, rules: &Rules, fail_on: FailOn) -> Judgement {
    let (Some(before), Some(after)) = (&begun.events, &rest.events) else {
        return Judgement::new(Verdict::NotExercised, "the stream is too long to be joined");
    };
    let whole = [before.as_slice(), after].concat();
    let report = check("joined", &mut whole.as_slice(), Some(Format::Sse), rules);
    let mut found: Vec<(&str, String)> = Vec::new();
    for finding in report.findings.iter().filter(|finding| fail_on.fails(finding)) {
        let rule = finding.rule.as_ref();
        let mut known = begun.report.findings.iter().chain(&rest.report.findings);
        if known.all(|known| known.rule != rule) && found.iter().all(|(other, _)| *other != rule) {
            found.push((rule, format!("{rule}: {}", visible(&finding.message))));
        }
    }
    if found.is_empty() {
        return Judgement::PASS;
    }
    let reasons: Vec<&str> = found.iter().take(MAX_RULES).map(|(_, reason)| reason.as_str()).collect();
    let more = found.len().saturating_sub(MAX_RULES);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let reason = format!("joined with the events before it, the stream breaks {}{more}", reasons.join("; "));
    Judgement::new(Verdict::Fail, reason)
}
