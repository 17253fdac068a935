//! A sheet as SARIF 2.1.0: a result for each cause.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use results::text::{counted, listed, visible};
use results::{Outcome, Verdict};
use serde_json::{Value, json};

use super::rule::window;
use super::{Sheet, SheetCause};
use crate::sarif::{Log, hash, in_repository, level, log, message, uri};

/// Maximum number of results; the worst come first.
const MOST: usize = 5000;
/// Maximum number of groups in a message.
const GROUPS: usize = 9;
/// Maximum number of characters of a side.
const SIDE: usize = 300;

pub(super) fn sarif(sheet: &Sheet<'_>) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rules = Vec::new();
    let shown = || sheet.causes.iter().take(MOST);
    for cause in shown() {
        numbers.entry(&cause.of.rule).or_insert_with(|| {
            rules.push(descriptor(sheet, cause));
            rules.len() - 1
        });
    }
    let mut names: Vec<&String> = shown().flat_map(|cause| &sheet.tests[cause.test].files).collect();
    names.sort_unstable();
    names.dedup();
    let omitted = sheet.causes.len().saturating_sub(MOST) as u64;
    log(&Log {
        suite: sheet.suite,
        rules,
        id: format!("conformance-{}/{}/", sheet.command, visible(&sheet.subject)),
        is_complete: sheet.outcome != Outcome::Incomplete,
        notifications: notifications(sheet, omitted),
        artifacts: names.iter().map(|name| json!({ "location": { "uri": uri(name) } })).collect(),
        results: shown().filter_map(|cause| result(sheet, cause, &numbers)).collect(),
        properties: json!({
            "subject": visible(&sheet.subject),
            "outcome": sheet.outcome,
            "failOn": sheet.fail_on.name(),
        }),
    })
}

fn descriptor(sheet: &Sheet<'_>, cause: &SheetCause<'_>) -> Value {
    let id = visible(&cause.of.rule);
    let Some(page) = cause.page(sheet) else {
        return json!({ "id": id, "defaultConfiguration": { "level": level(cause.of.level) } });
    };
    let title = visible(page.title);
    let mut descriptor = json!({
        "id": id,
        "shortDescription": { "text": title },
        "help": {
            "text": format!("{title} ({}). Fix: {}", visible(page.authority.trim_end_matches('.')), page.fix),
            "markdown": format!("**{title}.**\n\n{}\n\nAuthority: {}\n\nFix: {}", page.prose, page.authority, page.fix),
        },
        "defaultConfiguration": { "level": level(cause.of.level) },
        "properties": { "tags": [visible(catalogue::group(&cause.of.rule))] },
    });
    if let Some((address, members)) = in_repository(&page.page).zip(descriptor.as_object_mut()) {
        members.insert("helpUri".to_owned(), address.into());
    }
    descriptor
}

fn result(sheet: &Sheet<'_>, cause: &SheetCause<'_>, numbers: &BTreeMap<&str, usize>) -> Option<Value> {
    let SheetCause { of, finding, .. } = cause;
    let test = &sheet.tests[cause.test];
    let mut what = finding.message.clone();
    for (name, side) in test.sides(finding) {
        let _ = write!(what, "; {name}: {}", window(finding, side, SIDE));
    }
    if let Some(page) = cause.page(sheet) {
        let _ = write!(what, "; fix: {}", page.fix);
    }
    let groups = listed(&of.groups, GROUPS, String::clone);
    let _ = write!(what, "; {} of {groups}; example: {}", counted(of.tests, "test"), test.name);
    // Code scanning refuses results without a file, so that what was not kept has the name that it would have.
    let mut names = test.files.clone();
    if names.is_empty() {
        names.push(test.name.to_owned());
    }
    let place = |name: &String| {
        let region = json!({ "startLine": 1 });
        json!({ "physicalLocation": { "artifactLocation": { "uri": uri(name) }, "region": region } })
    };
    let places: Vec<Value> = names.iter().map(place).collect();
    let (first, others) = places.split_first()?;
    let fingerprint = hash(&[&of.rule, &of.kind]);
    Some(json!({
        "ruleId": visible(&of.rule),
        "ruleIndex": numbers.get(&*of.rule),
        "level": level(of.level),
        "message": message(&what),
        "occurrenceCount": of.tests,
        "locations": [first],
        "relatedLocations": others,
        "partialFingerprints": { "primaryLocationLineHash": fingerprint, "conformance/v1": fingerprint },
        "properties": { "test": visible(test.name), "kind": visible(&of.kind), "fails": of.fails },
    }))
}

/// Returns notifications about tests without a verdict, omitted causes, profiles, and what happened outside of tests.
fn notifications(sheet: &Sheet<'_>, omitted: u64) -> Vec<Value> {
    let note = |level: &str, text: String| json!({ "level": level, "message": message(&text) });
    let mut notes: Vec<Value> =
        sheet.stale.iter().map(|entry| note("error", format!("unexpectedly passing: {entry}"))).collect();
    let of_profile = |profile: &&results::ProfileReport| {
        note("error", format!("profile {}: {}", profile.name, profile.words()))
    };
    notes.extend(sheet.unmet.iter().map(of_profile));
    let unjudged = sheet.count(Verdict::HarnessError);
    if let Some(test) = sheet.tests.iter().find(|test| test.verdict == Verdict::HarnessError) {
        let text = format!("{} not judged, first {}: {}", counted(unjudged, "test"), test.name, test.reason);
        notes.push(note("error", text));
    }
    notes.extend(
        sheet.remarks.iter().take(MOST).map(|(title, text)| note("note", format!("{title}: {text}"))),
    );
    if omitted > 0 {
        notes.push(note("warning", format!("{} more, not listed here", counted(omitted, "cause"))));
    }
    notes
}
