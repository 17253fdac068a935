//! A run as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalogue::{Level, Rule, RuleInApi};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::json::json as text_of;
use super::markdown::OF_URL;
use super::terms::levels;
use crate::pages;
use results::Outcome;
use results::text::{counted, cut, visible};
use results::{
    CaptureReport, CaseReport, Cause, Finding, Location, RuleTotal, Run, TrialResult, Verdict, starred,
};

/// Maximum number of results; the most severe come first.
const MOST: usize = 5000;
/// Maximum length of a text.
const LENGTH: usize = 2000;
/// Maximum length of a quoted line.
const QUOTED: usize = 200;
/// The rule of trials that are about the answer itself.
const ANSWER: &str = "answer/as-asked";

pub(super) fn sarif(run: &Run) -> String {
    let mut rules: Vec<Value> = run.rules.iter().map(descriptor).collect();
    rules.push(json!({
        "id": ANSWER,
        "shortDescription": { "text": "The response to a request is complete and as requested." },
        "defaultConfiguration": { "level": "error" },
    }));
    let numbers: BTreeMap<&str, usize> =
        run.rules.iter().enumerate().map(|(number, rule)| (rule.id.as_str(), number)).collect();
    let mut findings = once_a_scenario(run);
    let mut results: Vec<Value> = unanswered(run).take(MOST).collect();
    let left = MOST - results.len();
    let omitted = findings.len().saturating_sub(left);
    findings.truncate(left);
    results.extend(findings.iter().map(|found| result(run, found, &numbers)));
    let mut names: Vec<_> = findings.iter().map(|found| found.capture.path()).collect();
    names.sort_unstable();
    names.dedup();
    let artifacts: Vec<Value> =
        names.iter().map(|name| json!({ "location": { "uri": uri(name) } })).collect();
    let mut properties =
        json!({ "dialect": visible(&run.dialect), "outcome": run.outcome, "failOn": run.fail_on.name() });
    let recognised: Vec<Value> = run
        .recognised()
        .into_iter()
        .map(|(dialect, count, by)| json!({ "dialect": visible(dialect), "responses": count, "by": visible(by) }))
        .collect();
    if let (false, Some(members)) = (recognised.is_empty(), properties.as_object_mut()) {
        members.insert("recognised".to_owned(), recognised.into());
    }
    if let (Some(levels), Some(members)) = (levels(run), properties.as_object_mut()) {
        members.insert("levelsChanged".to_owned(), levels.into());
    }
    if let (Some(live), Some(members)) = (&run.live, properties.as_object_mut()) {
        members.insert("target".to_owned(), visible(&live.target).into());
        members.insert("model".to_owned(), visible(&live.model).into());
    }
    log(&Log {
        suite: &run.suite,
        rules,
        id: format!("conformance/{}/", visible(&run.dialect)),
        is_complete: run.outcome != Outcome::Incomplete,
        notifications: notifications(run, omitted),
        artifacts,
        results,
        properties,
    })
}

/// What a log has.
pub(super) struct Log<'r> {
    /// The version of the suite.
    pub(super) suite: &'r str,
    pub(super) rules: Vec<Value>,
    /// By which code scanning tells runs apart.
    pub(super) id: String,
    pub(super) is_complete: bool,
    pub(super) notifications: Vec<Value>,
    pub(super) artifacts: Vec<Value>,
    pub(super) results: Vec<Value>,
    pub(super) properties: Value,
}

pub(super) fn log(of: &Log<'_>) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "conformance",
                "informationUri": if REPOSITORY.is_empty() { SPECIFICATION } else { REPOSITORY },
                "semanticVersion": visible(of.suite),
                "rules": of.rules,
            }},
            "automationDetails": { "id": of.id },
            "invocations": [{
                "executionSuccessful": of.is_complete,
                "toolExecutionNotifications": of.notifications,
            }],
            "artifacts": of.artifacts,
            "results": of.results,
            "properties": of.properties,
        }],
    });
    text_of(&log)
}

/// The repository of the suite; empty until it is published.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// The specification that it checks.
const SPECIFICATION: &str = "https://www.openresponses.org/";

/// The first finding of a cause in a scenario or recording, and the number of its findings there.
struct Found<'r> {
    capture: &'r CaptureReport,
    finding: &'r Finding,
    times: u64,
    cause: &'r Cause,
}

/// Returns the first finding of each cause in each scenario or recording, if it is at least a warning or fails, with the
/// number of findings of that cause there.
fn once_a_scenario(run: &Run) -> Vec<Found<'_>> {
    let mut scenarios: BTreeMap<usize, &str> = BTreeMap::new();
    for case in run.live.iter().flat_map(|live| &live.cases) {
        scenarios.extend(case.attempts.iter().map(|at| (*at, case.name.as_str())));
    }
    let mut order: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    let mut all: Vec<(usize, Found<'_>)> = Vec::new();
    let mut known: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (rank, cause) in
        run.own_causes().iter().enumerate().filter(|(_, cause)| cause.is_shown(Level::Should))
    {
        for place in &cause.findings {
            order.insert(*place, rank);
        }
    }
    for (of, capture) in run.captures.iter().enumerate() {
        let scenario = scenarios.get(&of).copied().unwrap_or(&capture.name);
        for (at, finding) in capture.findings.iter().enumerate() {
            let Some(rank) = order.get(&[of, at]).copied() else { continue };
            let place = *known.entry((rank, scenario)).or_insert(all.len());
            if let Some((_, found)) = all.get_mut(place) {
                found.times += finding.count;
            } else if let Some(cause) = run.causes.get(rank) {
                all.push((rank, Found { capture, finding, times: finding.count, cause }));
            }
        }
    }
    all.sort_by_key(|(rank, ..)| *rank);
    all.into_iter().map(|(_, found)| found).collect()
}

pub(super) const fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May => "note",
        Level::Off => "none",
    }
}

fn descriptor(rule: &RuleTotal) -> Value {
    let title = visible(&rule.title);
    let known = catalogue::rule(&rule.id);
    let apis: Vec<&str> = rule.apis.iter().map(String::as_str).collect();
    let page = known.map(|known| pages::rule(known, &apis)).unwrap_or_default();
    let fixes = rule.of_apis(RuleInApi::every_fix);
    let of_log = catalogue::log_rule(&rule.id);
    let fix = known.map(|_| fixes.join("; ")).or(of_log.map(|rule| rule.fix.to_owned()));
    let fix = fix.map(|fix| format!(". Fix: {fix}")).unwrap_or_default();
    let page = if let Some(rule) = of_log { rule.prose.to_owned() } else { page };
    let text = format!("{title} ({}){fix}", visible(&rule.authority));
    let mut descriptor = json!({
        "id": visible(&rule.id),
        "shortDescription": { "text": title },
        "help": { "text": text, "markdown": format!("**{title}.**\n\n{page}") },
        "defaultConfiguration": { "level": level(rule.level) },
        "properties": { "tags": [visible(catalogue::group(&rule.id))] },
    });
    if let Some((address, members)) =
        known.and_then(|known| address(known, rule)).zip(descriptor.as_object_mut())
    {
        members.insert("helpUri".to_owned(), address.into());
    }
    descriptor
}

/// Returns the URL of the page of a rule, or else of its source.
fn address(rule: &Rule, total: &RuleTotal) -> Option<String> {
    in_repository(&page(rule)).or_else(|| {
        let api = total.apis.first().map_or("", String::as_str);
        pages::requirement(rule.in_api(api)).map(|sentence| sentence.address.to_owned())
    })
}

pub(crate) fn page(rule: &Rule) -> String {
    format!("docs/rules/{}.md#{}", rule.group(), rule.id.replace('/', ""))
}

/// Returns the URL of a page in the repository, if it has a public one.
pub(crate) fn in_repository(page: &str) -> Option<String> {
    (!REPOSITORY.is_empty()).then(|| format!("{REPOSITORY}/blob/main/{page}"))
}

fn result(run: &Run, found: &Found<'_>, numbers: &BTreeMap<&str, usize>) -> Value {
    let Found { capture, finding, times, cause } = found;
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
    let fingerprint = fingerprint(capture, finding);
    let mut result = json!({
        "ruleId": visible(&finding.rule),
        "level": level(finding.level),
        "message": message(&text),
        "occurrenceCount": times,
        "locations": [location(&capture.path(), &finding.place)],
        "partialFingerprints": { "primaryLocationLineHash": fingerprint, "conformance/v1": fingerprint },
        "properties": {
            "event": finding.place.event,
            "eventType": finding.place.event_type.as_deref().map(visible),
            "sequenceNumber": finding.place.sequence_number,
            "pointer": finding.pointer.as_deref().map(visible),
            "exchange": finding.exchange.as_deref().map(visible),
            "fails": fails,
        },
    });
    let Some(members) = result.as_object_mut() else { return result };
    if let (false, Some(properties)) =
        (finding.dialect.is_empty(), members.get_mut("properties").and_then(Value::as_object_mut))
    {
        properties.insert("dialect".to_owned(), visible(&finding.dialect).into());
    }
    if let Some(number) = numbers.get(&*finding.rule) {
        members.insert("ruleIndex".to_owned(), (*number).into());
    }
    if let Some(related) = &finding.related {
        let mut place = location(&capture.path(), &related.place);
        if let Some(place) = place.as_object_mut() {
            place.insert("id".to_owned(), 1.into());
            place.insert("message".to_owned(), message(&related.label));
        }
        members.insert("relatedLocations".to_owned(), json!([place]));
    }
    result
}

/// Returns a message with links and placeholders escaped.
pub(super) fn message(text: &str) -> Value {
    let mut safe = String::new();
    for character in visible(&cut(text, LENGTH)).chars() {
        match character {
            '{' => safe.push_str("{{"),
            '}' => safe.push_str("}}"),
            '[' | ']' => safe.extend(['\\', character]),
            _ => safe.push(character),
        }
    }
    json!({ "text": safe })
}

/// Returns a place. Code scanning refuses results without a file, so that what was not kept has the name that it would
/// have.
fn location(capture: &str, place: &Location) -> Value {
    let mut region = json!({
        "byteOffset": place.bytes[0],
        "byteLength": place.bytes[1].saturating_sub(place.bytes[0]),
        "snippet": { "text": visible(&place.excerpt.text) },
    });
    if let Some(region) = region.as_object_mut().filter(|_| place.line > 0) {
        region.insert("startLine".to_owned(), place.line.into());
    }
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(capture) }, "region": region } })
}

/// Returns a fingerprint that is independent of lines, ids, texts and other findings.
fn fingerprint(capture: &CaptureReport, finding: &Finding) -> String {
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    let pointer = starred(pointer);
    // The expectation of a schema is constant; other rules expect values of the stream.
    let expected = finding.expected.as_deref().filter(|_| finding.group() == "schema").unwrap_or_default();
    let event = finding.place.event_type.as_deref().unwrap_or_default();
    let exchange = finding.exchange.as_deref().unwrap_or_default();
    hash(&[&finding.rule, &capture.name, exchange, event, &pointer, expected])
}

pub(super) fn hash(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\0"));
    digest.iter().take(16).fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Returns the results of trials whose response is not the requested one.
fn unanswered(run: &Run) -> impl Iterator<Item = Value> {
    let cases = run.live.iter().flat_map(|live| &live.cases);
    let failed = |told: &&TrialResult| told.judged.verdict == Verdict::Fail;
    cases.flat_map(move |case| {
        let answers = case.trials.iter().filter(failed).filter(|told| case.about(told) == "answer");
        answers.map(move |told| answer(case, told, run))
    })
}

fn answer(case: &CaseReport, told: &TrialResult, run: &Run) -> Value {
    let fingerprint = hash(&[ANSWER, &told.name]);
    let capture = case.recordings(run).last();
    let locations: Vec<Value> = capture
        .map(|capture| {
            // The request is in the first line.
            let region = json!({ "startLine": 1 });
            json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&capture.path()) }, "region": region } })
        })
        .into_iter()
        .collect();
    json!({
        "ruleId": ANSWER,
        "ruleIndex": run.rules.len(),
        "level": "error",
        "message": message(&format!("{}: {}", told.name, told.judged.reason)),
        "locations": locations,
        "partialFingerprints": { "primaryLocationLineHash": fingerprint, "conformance/v1": fingerprint },
    })
}

/// Returns notifications about undecided trials and omitted results.
fn notifications(run: &Run, omitted: usize) -> Vec<Value> {
    let note = |level: &str, text: String| json!({ "level": level, "message": message(&text) });
    let over = |entry: &String| note("error", format!("unexpectedly passing: {entry}"));
    let mut notes: Vec<Value> = run.stale().iter().map(over).collect();
    for undecided in &run.undecided {
        let level = if undecided.verdict == Verdict::HarnessError { "error" } else { "note" };
        let trials = counted(undecided.trials, "trial");
        notes.push(note(level, format!("{trials} without a verdict: {}", undecided.reason)));
    }
    for capture in run.captures.iter().take(MOST) {
        notes.extend(
            capture.error.iter().map(|error| note("error", format!("{}: {error}", run.name(capture)))),
        );
        notes.extend(capture.first_lost.iter().map(|lost| {
            note("note", format!("{}: the connection was lost: {}", run.name(capture), lost.reason))
        }));
    }
    let omitted = omitted as u64 + run.totals.omitted;
    if omitted > 0 {
        notes.push(note("warning", format!("{} more, not listed here", counted(omitted, "finding"))));
    }
    notes
}

/// Characters to escape in the path of a URI.
const OF_PATH: &AsciiSet = &OF_URL.add(b':').add(b'^');

/// Returns the URI of a recording, relative unless its path is absolute.
pub(super) fn uri(name: &str) -> String {
    let path = utf8_percent_encode(name, OF_PATH).to_string();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_uris() {
        assert_eq!(uri("a/b c:d.sse"), "a/b%20c%3Ad.sse");
        assert_eq!(uri("/tmp/é.sse"), "file:///tmp/%C3%A9.sse");
    }

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
