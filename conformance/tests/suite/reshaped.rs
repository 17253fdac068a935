//! Findings do not depend on the shape of events: `spec::reshaped` has one event type, in which what is an event of `openai`
//! is an entry of a list, with its value inside of another object.

use catalogue::Rule;
use conformance::{Rules, check, violation};
use recordings::capture::Format;
use recordings::goldens::{GOLDENS, golden};
use serde_json::{Map, Value, json};

use crate::renamed::{names_events, operands};

/// Returns a stream of `openai` as one of `reshaped`; `None` if an event has no value although its type has one, as the
/// effect of a list takes place only where its value is.
fn reshaped(stream: &str) -> Option<String> {
    stream.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> Option<String> {
    if line.starts_with("event:") {
        return Some(String::new());
    }
    let Some(data) = line.strip_prefix("data: ") else { return Some(line.to_owned()) };
    let Ok(Value::Object(mut event)) = serde_json::from_str(data) else {
        // Half of a surrogate pair is JSON, but no text in Rust.
        return spec::json::members(data.trim_end()).is_none().then(|| line.to_owned());
    };
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let place = spec::openai::DIALECT.event(&name).and_then(|info| info.value?.strip_prefix('/'));
    let value = match place {
        Some(member) => event.shift_remove(member).filter(|value| !value.is_null())?,
        None => json!(true),
    };
    let mut whole = Map::new();
    whole.extend(event.shift_remove_entry("sequence_number"));
    event.insert("values".to_owned(), json!({ name: value }));
    whole.insert("batch".to_owned(), json!([event]));
    Some(format!("data: {}\n", Value::Object(whole)))
}

/// Rules with code that reads an event by its type, or whose findings are counted by their place in it.
const OF_ONE_SHAPE: [&str; 4] = [
    "error/equals-failed",
    "response/in-progress-second",
    "wire/event-line",
    "wire/no-replacement-character",
];

/// Returns whether a rule applies to any shape. Others name events of `openai`, or places in them.
fn has_no_shape(rule: &Rule) -> bool {
    let has_places = operands(rule.id).iter().any(|operand| operand.at.is_some());
    !has_places && !names_events(rule.id) && !OF_ONE_SHAPE.contains(&rule.id)
}

/// Returns the findings in a recording: the rule, the event and how often.
fn found(dialect: &'static spec::Dialect, bytes: &[u8]) -> Vec<String> {
    let rules = Rules::of(dialect).only(has_no_shape);
    let report = check("stream", &mut &*bytes, Some(Format::Sse), &rules);
    let text = |finding: &results::Finding| {
        format!("{} {:?} {} {}", finding.rule, finding.level, finding.place.event, finding.count)
    };
    report.findings.iter().map(text).collect()
}

fn both(bytes: &[u8]) -> Option<[Vec<String>; 2]> {
    let after = reshaped(std::str::from_utf8(bytes).ok()?)?;
    Some([found(&spec::openai::DIALECT, bytes), found(&spec::reshaped::DIALECT, after.as_bytes())])
}

#[test]
fn good_streams_are_good_in_another_shape() {
    let is_stream = |format: Format| format == Format::Sse;
    let mut streams = 0;
    for golden in GOLDENS.iter().filter(|golden| golden.holds_for("openai") && is_stream(golden.format)) {
        let nothing = [const { Vec::new() }; 2];
        assert_eq!(both(golden.bytes), Some(nothing), "{}", golden.name);
        streams += 1;
    }
    assert!(streams > 20, "{streams} good streams");
}

#[test]
fn violations_are_found_in_another_shape() {
    let (mut proven, mut differ, mut without) = (0, Vec::new(), Vec::new());
    for (rule, own) in catalogue::rules_in_apis() {
        let golden = golden(own.violation.golden).expect(rule.id);
        if golden.format != Format::Sse || !golden.holds_for("openai") {
            continue;
        }
        let recording = violation::apply(&own.violation).expect(rule.id);
        match both(&recording) {
            None => without.push(rule.id),
            Some([before, after]) if before == after => proven += usize::from(!before.is_empty()),
            Some([before, after]) => differ.push((rule.id, before, after)),
        }
    }
    assert!(differ.is_empty(), "{differ:#?}\n{without:?}");
    assert!(proven > 60, "{proven} rules");
    assert!(without.len() < 5, "{without:?}");
}
