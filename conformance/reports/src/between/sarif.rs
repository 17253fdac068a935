//! The report of both ends of a gateway as SARIF 2.1.0: a result for each cause.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use results::text::{counted, listed, visible};
use results::{BetweenCause, BetweenRun, Outcome, Verdict};
use serde_json::{Value, json};

use super::super::sarif::{Log, hash, level, log, message, uri};
use super::rule::{files, page_of, sides, window};

/// Maximum number of results; the worst come first.
const MOST: usize = 5000;
/// Maximum number of pairs in a message.
const PAIRS: usize = 9;
/// Maximum number of characters of a side.
const SIDE: usize = 300;

pub(super) fn sarif(run: &BetweenRun) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rules = Vec::new();
    for cause in run.causes.iter().take(MOST) {
        numbers.entry(&cause.rule).or_insert_with(|| {
            rules.push(descriptor(cause));
            rules.len() - 1
        });
    }
    let shown = || run.causes.iter().take(MOST).filter_map(|cause| Some((cause, run.first_of(cause)?.0)));
    let mut names: Vec<String> = shown().flat_map(|(_, test)| files(run, test)).collect();
    names.sort_unstable();
    names.dedup();
    let omitted = run.causes.len().saturating_sub(MOST) as u64;
    log(&Log {
        suite: &run.suite,
        rules,
        id: format!("conformance-between/{}/", visible(&run.gateway)),
        is_complete: run.outcome != Outcome::Incomplete,
        notifications: notifications(run, omitted),
        artifacts: names.iter().map(|name| json!({ "location": { "uri": uri(name) } })).collect(),
        results: shown().filter_map(|(cause, _)| result(run, cause, &numbers)).collect(),
        properties: json!({
            "gateway": visible(&run.gateway),
            "model": visible(&run.model),
            "outcome": run.outcome,
            "failOn": run.fail_on.name(),
            "pairs": run.pairs.iter().map(|pair| visible(&format!("{}-{}", pair.front, pair.upstream))).collect::<Vec<_>>(),
        }),
    })
}

fn descriptor(cause: &BetweenCause) -> Value {
    let id = visible(&cause.rule);
    let Some(page) = page_of(cause) else {
        return json!({ "id": id, "defaultConfiguration": { "level": level(cause.level) } });
    };
    let title = visible(page.title);
    json!({
        "id": id,
        "shortDescription": { "text": title },
        "help": {
            "text": format!("{title} ({}). Fix: {}", visible(page.authority.trim_end_matches('.')), page.fix),
            "markdown": format!("**{title}.**\n\n{}\n\nAuthority: {}\n\nFix: {}", page.prose, page.authority, page.fix),
        },
        "defaultConfiguration": { "level": level(cause.level) },
        "properties": { "tags": [visible(catalogue::group(&cause.rule))] },
    })
}

fn result(run: &BetweenRun, cause: &BetweenCause, numbers: &BTreeMap<&str, usize>) -> Option<Value> {
    let (test, finding) = run.first_of(cause)?;
    let mut what = finding.message.clone();
    for (name, side) in sides(finding) {
        let _ = write!(what, "; {name}: {}", window(finding, side, SIDE));
    }
    if let Some(page) = page_of(cause) {
        let _ = write!(what, "; fix: {}", page.fix);
    }
    let pairs = listed(&cause.pairs, PAIRS, String::clone);
    let _ = write!(what, "; {} of {pairs}; example: {}", counted(cause.tests, "test"), test.name);
    // Code scanning refuses results without a file, so that what was not kept has the name that it would have.
    let mut names = files(run, test);
    if names.is_empty() {
        names.push(test.name.clone());
    }
    let place = |name: &String| {
        let region = json!({ "startLine": 1 });
        json!({ "physicalLocation": { "artifactLocation": { "uri": uri(name) }, "region": region } })
    };
    let places: Vec<Value> = names.iter().map(place).collect();
    let (first, others) = places.split_first()?;
    let fingerprint = hash(&[&cause.rule, &cause.kind]);
    Some(json!({
        "ruleId": visible(&cause.rule),
        "ruleIndex": numbers.get(&*cause.rule),
        "level": level(cause.level),
        "message": message(&what),
        "occurrenceCount": cause.tests,
        "locations": [first],
        "relatedLocations": others,
        "partialFingerprints": { "primaryLocationLineHash": fingerprint, "conformance/v1": fingerprint },
        "properties": { "test": visible(&test.name), "kind": visible(&cause.kind), "fails": cause.fails },
    }))
}

/// Returns notifications about tests without a verdict, omitted causes and unaccounted requests.
fn notifications(run: &BetweenRun, omitted: u64) -> Vec<Value> {
    let note = |level: &str, text: String| json!({ "level": level, "message": message(&text) });
    let mut notes: Vec<Value> =
        run.stale.iter().map(|entry| note("error", format!("unexpectedly passing: {entry}"))).collect();
    let unjudged = run.count(Verdict::HarnessError);
    if let Some(test) = run.tests.iter().find(|test| test.verdict == Verdict::HarnessError) {
        let text = format!("{} not judged, first {}: {}", counted(unjudged, "test"), test.name, test.reason);
        notes.push(note("error", text));
    }
    for request in run.unaccounted.iter().take(MOST) {
        let times = counted(request.times, "time");
        notes.push(note("note", format!("no test accounts for {}, received {times}", request.request)));
    }
    if omitted > 0 {
        notes.push(note("warning", format!("{} more, not listed here", counted(omitted, "cause"))));
    }
    notes
}
