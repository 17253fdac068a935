//! A sheet as SARIF 2.1.0, for code scanning.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use catalogue::Level;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use results::Outcome;
use results::text::{counted, cut, visible};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::markdown::OF_URL;
use super::{FilePlace, Note, Sheet, SheetResult, SheetRule};
use crate::json::json as text_of;
use crate::pages::REPOSITORY;

/// Maximum number of results; the most severe come first.
const MOST: usize = 5000;
/// Maximum length of a text.
const LENGTH: usize = 2000;
/// The first specification that the suite checked.
const SPECIFICATION: &str = "https://www.openresponses.org/";

pub(crate) fn sarif(sheet: &Sheet<'_>) -> String {
    let rules = (sheet.rules)();
    let numbers: BTreeMap<&str, usize> =
        rules.iter().enumerate().map(|(number, rule)| (rule.id.as_str(), number)).collect();
    let (results, omitted) = (sheet.results)(MOST);
    let files: BTreeSet<&str> =
        results.iter().flat_map(|result| &result.places).map(|place| &*place.file).collect();
    let mut properties = json!({ "outcome": sheet.outcome, "failOn": sheet.fail_on.name() });
    if let (Some(members), Some(own)) = (properties.as_object_mut(), sheet.properties.as_object()) {
        members.extend(own.clone());
        let levels = sheet.terms.iter().filter(|(name, _)| *name == "levels changed");
        members.extend(levels.map(|(_, levels)| ("levelsChanged".to_owned(), levels.clone().into())));
    }
    text_of(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "conformance",
                "informationUri": if REPOSITORY.is_empty() { SPECIFICATION } else { REPOSITORY },
                "semanticVersion": visible(sheet.suite),
                "rules": rules.iter().map(descriptor).collect::<Vec<_>>(),
            }},
            "automationDetails": { "id": visible(&sheet.id) },
            "invocations": [{
                "executionSuccessful": sheet.outcome != Outcome::Incomplete,
                "toolExecutionNotifications": notifications(sheet, omitted),
            }],
            "artifacts": files.iter().map(|file| json!({ "location": { "uri": uri(file) } })).collect::<Vec<_>>(),
            "results": results.iter().map(|result| of_result(result, &numbers)).collect::<Vec<_>>(),
            "properties": properties,
        }],
    }))
}

fn descriptor(rule: &SheetRule) -> Value {
    let SheetRule { id, title, help, page, address, .. } = rule;
    let title = visible(title);
    let mut descriptor = json!({ "id": visible(id) });
    let mut add = |name: &str, value: Value| descriptor[name] = value;
    if !title.is_empty() {
        add("shortDescription", json!({ "text": title }));
        add("help", json!({ "text": visible(help), "markdown": format!("**{title}.**\n\n{page}") }));
    }
    add("defaultConfiguration", json!({ "level": level(rule.level) }));
    add("properties", json!({ "tags": [visible(catalogue::group(id))] }));
    if let Some(address) = address {
        add("helpUri", address.as_str().into());
    }
    descriptor
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May => "note",
        Level::Off => "none",
    }
}

fn of_result(of: &SheetResult<'_>, numbers: &BTreeMap<&str, usize>) -> Value {
    let mut places = of.places.iter().enumerate().map(|(number, place)| location(place, number));
    let mut result = json!({
        "ruleId": visible(&of.rule),
        "ruleIndex": numbers.get(&*of.rule),
        "level": level(of.level),
        "message": message(&of.text),
        "occurrenceCount": of.times,
        "locations": places.next().into_iter().collect::<Vec<_>>(),
        "partialFingerprints": { "primaryLocationLineHash": of.fingerprint, "conformance/v1": of.fingerprint },
        "properties": of.properties,
    });
    if let (false, Some(members)) = (numbers.contains_key(&*of.rule), result.as_object_mut()) {
        members.remove("ruleIndex");
    }
    let related: Vec<Value> = places.collect();
    if let (false, Some(members)) = (related.is_empty(), result.as_object_mut()) {
        members.insert("relatedLocations".to_owned(), related.into());
    }
    result
}

/// Links and placeholders are escaped.
fn message(text: &str) -> Value {
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

/// Related places have a number.
fn location(place: &FilePlace<'_>, number: usize) -> Value {
    let mut region = json!({ "startLine": place.at.map_or(1, |at| at.line) });
    if let (Some(at), Some(members)) = (place.at, region.as_object_mut()) {
        let [from, to] = at.bytes;
        if at.line == 0 {
            members.clear();
        }
        members.insert("byteOffset".to_owned(), from.into());
        members.insert("byteLength".to_owned(), to.saturating_sub(from).into());
        members.insert("snippet".to_owned(), json!({ "text": visible(&at.excerpt.text) }));
    }
    let mut location =
        json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&place.file) }, "region": region } });
    if let (false, Some(members)) = (place.label.is_empty(), location.as_object_mut()) {
        members.insert("id".to_owned(), number.into());
        members.insert("message".to_owned(), message(place.label));
    }
    location
}

pub(crate) fn hash(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\0"));
    digest.iter().take(16).fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn notifications(sheet: &Sheet<'_>, omitted: u64) -> Vec<Value> {
    let note = |level: &str, text: String| json!({ "level": level, "message": message(&text) });
    let stale = sheet.stale.iter().map(|entry| note("error", format!("unexpectedly passing: {entry}")));
    let unmet = (sheet.unmet.iter())
        .map(|profile| note("error", format!("profile {}: {}", profile.name, profile.words())));
    let of_note = |of: &Note| note(level(of.level), format!("{}: {}", of.title, of.text));
    let omitted = (omitted > 0)
        .then(|| note("warning", format!("{}, not listed here", counted(omitted, "more finding"))));
    stale.chain(unmet).chain(sheet.notes.iter().take(MOST).map(of_note)).chain(omitted).collect()
}

/// Characters to escape in the path of a URI.
const OF_PATH: &AsciiSet = &OF_URL.add(b':').add(b'^');

/// The URI is relative unless the path is absolute.
fn uri(name: &str) -> String {
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
}
