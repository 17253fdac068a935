//! Parts of a stream, joined: what a rule sees only in the whole.

use catalogue::Level;

use super::attempt::Attempt;
use checker::Rules;
use recordings::capture::Format;
use recordings::check;
use results::text::visible;
use results::{Judged, Verdict};

/// So many broken rules are told.
const TOLD: usize = 3;

/// Whether a stream and what it was taken up again with are one good stream. What a part breaks by itself
/// is told there.
pub(super) fn joined(begun: &Attempt, rest: &Attempt, rules: &Rules, least: Level) -> Judged {
    let (Some(before), Some(after)) = (&begun.events, &rest.events) else {
        return Judged::new(Verdict::NotExercised, "the stream is too long to be joined");
    };
    let whole = [before.as_slice(), after].concat();
    let report = check("joined", &mut whole.as_slice(), Some(Format::Sse), rules);
    let mut found: Vec<(&str, String)> = Vec::new();
    for finding in report.findings.iter().filter(|finding| finding.level >= least) {
        let rule = finding.rule.as_ref();
        let mut known = begun.report.findings.iter().chain(&rest.report.findings);
        if known.all(|known| known.rule != rule) && found.iter().all(|(other, _)| *other != rule) {
            found.push((rule, format!("{rule}: {}", visible(&finding.message))));
        }
    }
    if found.is_empty() {
        return Judged::PASS;
    }
    let told: Vec<&str> = found.iter().take(TOLD).map(|(_, told)| told.as_str()).collect();
    let more = found.len().saturating_sub(TOLD);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let reason = format!("joined with the events before it, the stream breaks {}{more}", told.join("; "));
    Judged::new(Verdict::Fail, reason)
}
