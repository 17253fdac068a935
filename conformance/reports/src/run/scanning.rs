//! The rules and findings of a run for code scanning.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalogue::{Level, RuleInApi};
use results::text::{cut, visible};
use results::{CaptureReport, CaseReport, Cause, Finding, RuleTotal, Run, TrialResult, Verdict, starred};
use serde_json::json;

use crate::pages;
use crate::sheet::{FilePlace, SheetResult, SheetRule, hash};

/// Maximum length of a quoted line.
const QUOTED: usize = 200;
/// The rule of trials that are about the answer itself.
pub(super) const ANSWER: &str = "answer/as-asked";

pub(super) fn rules(run: &Run) -> Vec<SheetRule> {
    let answer = SheetRule {
        id: ANSWER.to_owned(),
        level: Level::Must,
        title: "The response to a request is complete and as requested".to_owned(),
        help: "The response to a request is complete and as requested".to_owned(),
        page: "A test sends a request and fails if its response is another one, breaks off, or is refused."
            .to_owned(),
        address: None,
    };
    run.rules.iter().map(of_rule).chain([answer]).collect()
}

fn of_rule(total: &RuleTotal) -> SheetRule {
    let known = catalogue::rule(&total.id);
    let of_log = catalogue::log_rule(&total.id);
    let apis: Vec<&str> = total.apis.iter().map(String::as_str).collect();
    let fixes = total.of_apis(RuleInApi::every_fix);
    let fix = known.map(|_| fixes.join("; ")).or(of_log.map(|rule| rule.fix.to_owned()));
    let fix = fix.map(|fix| format!(". Fix: {fix}")).unwrap_or_default();
    let page = known.map(|known| pages::rule(known, &apis)).or(of_log.map(|rule| rule.prose.to_owned()));
    SheetRule {
        id: total.id.clone(),
        level: total.level,
        title: total.title.clone(),
        help: format!("{} ({}){fix}", total.title, total.authority),
        page: page.unwrap_or_default(),
        address: known
            .and_then(|rule| pages::address(rule, rule.in_api(apis.first().copied().unwrap_or_default()))),
    }
}

/// Responses that were not requested come first.
pub(super) fn results(run: &Run, most: usize) -> (Vec<SheetResult<'_>>, u64) {
    let mut results: Vec<SheetResult<'_>> = unanswered(run).take(most).collect();
    let findings = once_a_scenario(run);
    let left = most - results.len();
    results.extend(findings.iter().take(left).map(|found| result(run, found)));
    (results, findings.len().saturating_sub(left) as u64 + run.totals.omitted)
}

/// The first finding of a cause in a scenario or recording, and the number of its findings there.
struct FirstFinding<'r> {
    capture: &'r CaptureReport,
    finding: &'r Finding,
    times: u64,
    cause: &'r Cause,
}

/// Only findings that are warnings or worse, or that fail. Each has the number of findings of its cause in the scenario or
/// recording.
fn once_a_scenario(run: &Run) -> Vec<FirstFinding<'_>> {
    let mut scenarios: BTreeMap<usize, &str> = BTreeMap::new();
    for case in run.live.iter().flat_map(|live| &live.cases) {
        scenarios.extend(case.attempts.iter().map(|at| (*at, case.name.as_str())));
    }
    let mut all: Vec<FirstFinding<'_>> = Vec::new();
    for cause in run.own_causes().iter().filter(|cause| cause.is_shown(Level::Should)) {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for [of, at] in &cause.findings {
            let Some(capture) = run.captures.get(*of) else { continue };
            let Some(finding) = capture.findings.get(*at) else { continue };
            let scenario = scenarios.get(of).copied().unwrap_or(&capture.name);
            let place = *known.entry(scenario).or_insert(all.len());
            match all.get_mut(place) {
                Some(found) => found.times += finding.count,
                None => all.push(FirstFinding { capture, finding, times: finding.count, cause }),
            }
        }
    }
    all
}

fn result<'r>(run: &'r Run, found: &FirstFinding<'r>) -> SheetResult<'r> {
    let FirstFinding { capture, finding, times, cause } = *found;
    // All that an object lacks is one result.
    let mut text = if cause.missing.len() > 1 { cause.message.clone() } else { finding.message.clone() };
    for (name, value) in [("expected", &finding.expected), ("found", &finding.actual)] {
        if let Some(value) = value.as_deref().filter(|value| !finding.message.contains(value)) {
            let _ = write!(text, "; {name}: {value}");
        }
    }
    for (client, failure) in finding.broken_clients() {
        let _ = write!(text, "; breaks {client} ({failure})");
    }
    let fails = run.fail_on.reason(finding);
    if let Some(reason) = fails.as_ref().filter(|_| finding.level < Level::Must) {
        let _ = write!(text, "; fails: {reason}");
    }
    if let Some(fix) = &cause.fix {
        let _ = write!(text, "; fix: {fix}");
    }
    let quoted = &finding.place.excerpt.text;
    if !quoted.is_empty() {
        let _ = write!(text, "; line {}: {}", finding.place.line, cut(quoted, QUOTED));
    }
    let mut properties = json!({
        "event": finding.place.event,
        "eventType": finding.place.event_type.as_deref().map(visible),
        "sequenceNumber": finding.place.sequence_number,
        "pointer": finding.pointer.as_deref().map(visible),
        "exchange": finding.exchange.as_deref().map(visible),
        "fails": fails,
    });
    if let (false, Some(members)) = (finding.dialect.is_empty(), properties.as_object_mut()) {
        members.insert("dialect".to_owned(), visible(&finding.dialect).into());
    }
    let place = |at, label| FilePlace { file: capture.path(), at: Some(at), label };
    let related = finding.related.as_ref().map(|related| place(&related.place, &related.label));
    SheetResult {
        rule: Cow::Borrowed(&finding.rule),
        level: finding.level,
        text,
        times,
        places: [place(&finding.place, "")].into_iter().chain(related).collect(),
        fingerprint: fingerprint(capture, finding),
        properties,
    }
}

/// The fingerprint is independent of lines, ids, texts and other findings.
fn fingerprint(capture: &CaptureReport, finding: &Finding) -> String {
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    let pointer = starred(pointer);
    // The expectation of a schema is constant; other rules expect values of the stream.
    let expected = finding.expected.as_deref().filter(|_| finding.group() == "schema").unwrap_or_default();
    let event = finding.place.event_type.as_deref().unwrap_or_default();
    let exchange = finding.exchange.as_deref().unwrap_or_default();
    hash(&[&finding.rule, &capture.name, exchange, event, &pointer, expected])
}

/// Trials whose response is not the requested one.
fn unanswered(run: &Run) -> impl Iterator<Item = SheetResult<'_>> {
    let cases = run.live.iter().flat_map(|live| &live.cases);
    let failed = |told: &&TrialResult| told.judged.verdict == Verdict::Fail;
    cases.flat_map(move |case| {
        let answers = case.trials.iter().filter(failed).filter(|told| case.about(told) == "answer");
        answers.map(move |told| answer(case, told, run))
    })
}

fn answer<'r>(case: &'r CaseReport, told: &'r TrialResult, run: &'r Run) -> SheetResult<'r> {
    // The request is in the first line.
    let place = |capture: &'r CaptureReport| FilePlace { file: capture.path(), at: None, label: "" };
    SheetResult {
        rule: Cow::Borrowed(ANSWER),
        level: Level::Must,
        text: format!("{}: {}", told.name, told.judged.reason),
        times: 1,
        places: case.recordings(run).last().map(place).into_iter().collect(),
        fingerprint: hash(&[ANSWER, &told.name]),
        properties: json!({ "test": visible(&told.name), "fails": "MUST" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Location;

    #[test]
    fn fingerprints_stay_while_lines_move() {
        let finding = |rule: &'static str, line, pointer: &str| Finding {
            rule: rule.into(),
            api: "responses".into(),
            dialect: "".into(),
            level: Level::Must,
            message: format!("on {line}"),
            exchange: None,
            exchange_number: None,
            place: Location { line, time_ms: Some(line), event: line, ..Location::default() },
            pointer: Some(pointer.to_owned()),
            missing: None,
            supply: None,
            member: None,
            expected: Some(line.to_string()),
            actual: Some(line.to_string()),
            form: "".into(),
            says: "".into(),
            related: None,
            fine_in: Vec::new(),
            is_recorded: false,
            follows_from: None,
            count: line,
        };
        let capture = CaptureReport::default();
        let of = |finding: &Finding| fingerprint(&capture, finding);
        assert_eq!(of(&finding("a/b", 1, "/x/1")), of(&finding("a/b", 2, "/x/2")));
        assert_ne!(of(&finding("a/b", 1, "/x/1")), of(&finding("a/c", 1, "/x/1")));
        assert_ne!(of(&finding("a/b", 1, "/x/1")), of(&finding("a/b", 1, "/y/1")));
        assert_ne!(of(&finding("schema/b", 1, "/x")), of(&finding("schema/b", 2, "/x")));
    }
}
