//! Recorded streams, reformatted or with events removed. They are not part of the repository; without them, the tests
//! are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use catalogue::Level;
use conformance::Rules;
use conformance::results::CaptureReport;
use conformance::results::Finding;
use serde_json::{Map, Value, json};
use tests::corpus;

/// Longer streams have nothing that shorter ones have not.
const LONGEST: usize = 300_000;

/// The events of a stream: the type, and the data.
type Events = Vec<(String, Value)>;

/// Returns the recorded streams of OpenAI and Azure that have sequence numbers, by file.
fn streams() -> BTreeMap<String, Events> {
    let recordings = corpus::required();
    let mut streams: BTreeMap<String, Events> = BTreeMap::new();
    for vendor in ["openai", "azure"] {
        for event in corpus::events(&recordings.join("real").join(vendor)) {
            let data: Value = serde_json::from_str(&event.data).expect("recorded events are JSON");
            streams.entry(event.file.display().to_string()).or_default().push((event.event_type(), data));
        }
    }
    streams.retain(|_, events| {
        let length: usize = events.iter().map(|(_, data)| data.to_string().len()).sum();
        length < LONGEST && events.iter().all(|(_, data)| data.get("sequence_number").is_some())
    });
    assert!(streams.len() > 150, "{} streams", streams.len());
    streams
}

fn check(rules: &Rules, stream: &str) -> CaptureReport {
    conformance::check("rewritten", &mut stream.as_bytes(), None, rules)
}

/// Returns the stream with each event formatted by `write`.
fn written(events: &Events, write: impl Fn(&str, &Value) -> String) -> String {
    events.iter().map(|(name, data)| write(name, data)).collect()
}

fn plain(events: &Events) -> String {
    written(events, |name, data| {
        format!(
            "event: {name}
data: {data}

"
        )
    })
}

fn with_keys_reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let reversed: Map<String, Value> =
                members.iter().rev().map(|(key, value)| (key.clone(), with_keys_reversed(value))).collect();
            reversed.into()
        }
        Value::Array(entries) => entries.iter().map(with_keys_reversed).collect(),
        other => other.clone(),
    }
}

fn with_more_members(data: &Value) -> Value {
    let mut data = data.clone();
    data["x_vendor"] = json!({ "type": "none", "list": [1, { "type": "unknown" }] });
    if let Some(response) = data.get_mut("response") {
        response["x_vendor"] = Value::Null;
    }
    data
}

/// Returns the JSON text with all non-ASCII characters escaped.
fn escaped(data: &Value) -> String {
    let mut text = String::new();
    for character in data.to_string().chars() {
        if character.is_ascii() {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

/// Returns the same stream in equivalent formats.
fn rewritten(events: &Events) -> [(&'static str, String); 5] {
    let each = |write: &dyn Fn(&str, &Value) -> String| written(events, write);
    [
        (
            "keys reversed",
            each(&|name, data| format!("event: {name}\ndata: {}\n\n", with_keys_reversed(data))),
        ),
        ("CRLF, data first", each(&|name, data| format!(": note\r\ndata:{data}\r\nevent:{name}\r\n\r\n"))),
        (
            "data over several lines",
            each(&|name, data| {
                let lines = format!("{data:#}").replace('\n', "\ndata: ");
                format!("event: {name}\ndata: {lines}\n\n")
            }),
        ),
        (
            "more members",
            each(&|name, data| format!("event: {name}\nretry: 10\ndata: {}\n\n", with_more_members(data))),
        ),
        ("escaped", each(&|name, data| format!("event: {name}\ndata: {}\n\n", escaped(data)))),
    ]
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn streams_written_otherwise_are_judged_alike() {
    for dialect in ["openai", "open-responses"] {
        let rules = Rules::of(corpus::dialect(dialect));
        for (file, events) in streams() {
            let told = |stream: &str| -> Vec<_> {
                let report = check(&rules, stream);
                assert_eq!(report.events, events.len() as u64, "{file}: {:?}", report.error);
                let key = |finding: &Finding| {
                    (finding.rule.clone(), finding.place.event, finding.pointer.clone(), finding.count)
                };
                let mut told: Vec<_> = report.findings.iter().map(key).collect();
                told.sort();
                told
            };
            let before = told(&plain(&events));
            for (how, stream) in rewritten(&events) {
                assert_eq!(told(&stream), before, "{dialect}, {file}: {how}");
            }
        }
    }
}

/// Removes an event, and renumbers the others.
fn without(events: &Events, index: usize) -> Events {
    let first = events[0].1["sequence_number"].as_u64().expect("a number");
    let left = events.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, event)| event.clone());
    let numbered = left.zip(first..).map(|((name, mut data), number)| {
        data["sequence_number"] = number.into();
        (name, data)
    });
    numbered.collect()
}

/// Records which rules detect that the first event of a type was removed from a stream, at level SHOULD or higher.
#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn events_that_are_taken_out_are_missed() {
    let rules = Rules::of(corpus::dialect("openai"));
    let mut missed: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (_, events) in streams() {
        let mut seen = BTreeSet::new();
        for (index, (name, _)) in events.iter().enumerate() {
            if !seen.insert(name) {
                continue;
            }
            let report = check(&rules, &plain(&without(&events, index)));
            let binding = report.findings.iter().filter(|finding| finding.level != Level::May);
            let by: BTreeSet<&str> = binding
                .map(|finding| finding.rule.as_ref())
                .filter(|rule| *rule != "schema/event-valid")
                .collect();
            let by = if by.is_empty() { "nothing".to_owned() } else { Vec::from_iter(by).join(", ") };
            *missed.entry(name.clone()).or_default().entry(by).or_default() += 1;
        }
    }
    let mut text = String::new();
    for (name, by) in &missed {
        let _ = writeln!(text, "{name}");
        for (rules, streams) in by {
            let _ = writeln!(text, "  {streams}: {rules}");
        }
    }
    insta::assert_snapshot!(text);
}
