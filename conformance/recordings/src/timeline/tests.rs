use std::fmt::Write as _;

use super::*;
use crate::check_with_timelines;
use crate::goldens;
use checker::Rules;
use results::CaptureReport;

fn checked(dialect: &str, recording: &[u8]) -> CaptureReport {
    let dialect = spec::dialect(dialect).unwrap();
    check_with_timelines("a", &mut { recording }, None, &Rules::of(dialect))
}

fn told(timeline: &Timeline) -> String {
    let mut out = String::new();
    for bar in &timeline.bars {
        let indent = "  ".repeat(usize::try_from(bar.depth).unwrap());
        let [from, to] = bar.events;
        let kind = bar.kind.as_deref().unwrap_or_default();
        let index = bar.index.map(|index| index.to_string()).unwrap_or_default();
        let _ = write!(out, "{indent}{} {index} {kind} {from}..{to}", bar.scope);
        let _ = match bar.closed {
            Some(closed) if closed != to => write!(out, " closed at {closed}"),
            Some(_) => Ok(()),
            None => write!(out, " never closed"),
        };
        if bar.characters > 0 {
            let _ = write!(out, " {} characters", bar.characters);
        }
        let stop = bar.stop.as_ref().map(|stop| format!(" stop {stop}")).unwrap_or_default();
        let tokens = bar.tokens.map(|[input, sent]| format!(" tokens {input} {sent}"));
        let _ = write!(out, "{stop}{}", tokens.unwrap_or_default());
        let phases: Vec<_> =
            bar.phases.iter().map(|phase| format!(" {}@{}", phase.name, phase.event)).collect();
        let _ = writeln!(out, "{}{}", if bar.opened { "" } else { " not opened" }, phases.concat());
    }
    out.replace("  ", " ").replace(" \n", "\n")
}

fn stream(events: &[&str]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
}

#[test]
fn a_good_stream_has_a_bar_for_all_that_is_in_it() {
    let golden = goldens::golden("openai/parallel-function-calls").unwrap();
    let report = checked("openai", golden.bytes);
    insta::assert_snapshot!(told(&report.timelines[0]));
}

/// Blocks, choices and calls are lanes, also if one chunk has several of them.
#[test]
fn streams_of_other_apis_have_their_own_lanes() {
    for name in ["anthropic/weather", "deepseek-chat/weather", "chat/two-choices", "mistral/tool-calls"] {
        let golden = goldens::golden(name).unwrap();
        let report = checked(golden.dialect, golden.bytes);
        insta::assert_snapshot!(name.replace('/', "-"), told(&report.timelines[0]));
    }
}

#[test]
fn damage_in_streams_of_other_apis_is_drawn_as_it_came() {
    let message = String::from_utf8(goldens::golden("anthropic/weather").unwrap().bytes.to_vec()).unwrap();
    let mut events: Vec<&str> = message.split_inclusive("\n\n").collect();
    // The first block is not stopped, the last one not started, and the message does not end.
    events.remove(6);
    events.pop();
    events.remove(10);
    let report = checked("anthropic", events.concat().as_bytes());
    insta::assert_snapshot!("damaged-message", told(&report.timelines[0]));
    let chunks = String::from_utf8(goldens::golden("deepseek-chat/weather").unwrap().bytes.to_vec()).unwrap();
    // The arguments are of a call that never began, one more text follows the end, and the marker is missing.
    let chunks = chunks.replace(r#"[{"index":0,"function""#, r#"[{"index":1,"function""#);
    let mut events: Vec<&str> = chunks.split_inclusive("\n\n").collect();
    events.pop();
    events.push(events[4]);
    let report = checked("deepseek-chat", events.concat().as_bytes());
    insta::assert_snapshot!("damaged-completion", told(&report.timelines[0]));
}

#[test]
fn events_are_counted_as_findings_count_them() {
    // A body that is judged as an event is not drawn.
    for golden in goldens::GOLDENS.iter().filter(|golden| golden.name != "body") {
        let report = checked(golden.dialect, golden.bytes);
        let drawn: u64 = report.timelines.iter().map(|timeline| timeline.events).sum();
        assert_eq!(drawn, report.events, "{}", golden.name);
        for timeline in &report.timelines {
            let open = timeline.bars.iter().filter(|bar| bar.closed.is_none()).count();
            let breaks_off = ["failed", "incomplete", "error"].iter().any(|name| golden.name.contains(name));
            // Hosted tools of Azure have no last phase.
            let is_whole = open == 0 || golden.dialect == "azure";
            assert!(is_whole || breaks_off, "{}:\n{}", golden.name, told(timeline));
            // Codex starts with an additional event, and a stream can begin with its error.
            let is_early = golden.dialect == "codex" || golden.name == "error-first";
            let is_opened = is_early || timeline.bars.iter().all(|bar| bar.opened);
            assert!(is_opened, "{}:\n{}", golden.name, told(timeline));
            assert!(timeline.faulty.is_empty(), "{}", golden.name);
        }
    }
}

#[test]
fn what_is_broken_is_drawn_as_it_came() {
    let recording = stream(&[
        r#"{"type":"response.created","response":{"id":"r"}}"#,
        r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","name":"get"}}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"f","output_index":0,"delta":"{"}"#,
        r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m"}}"#,
        "[1]",
        r#"{"type":"response.output_text.done","item_id":"m","output_index":0,"content_index":0,"text":"a"}"#,
    ]);
    let report = checked("openai", &recording);
    insta::assert_snapshot!(told(&report.timelines[0]));
    assert_eq!(report.timelines[0].events, report.events);
    let faulty: Vec<u64> = report.timelines[0].faulty.iter().map(|event| event.event).collect();
    assert!(faulty.contains(&4) && faulty.contains(&8), "{faulty:?}");
    let finding = |event: u64| report.findings.iter().any(|finding| finding.place.event == event);
    assert!(finding(4) && finding(8), "{:#?}", report.findings);
}

#[test]
fn deltas_that_follow_each_other_are_one_row() {
    let delta = |item: &str, text: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","item_id":"{item}","output_index":0,"content_index":0,"delta":"{text}"}}"#
        )
    };
    let mut events = vec![r#"{"type":"response.created","response":{"id":"r"}}"#.to_owned()];
    events.push(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}"#
            .to_owned(),
    );
    events.extend(["Hel", "lo", " you"].map(|text| delta("m", text)));
    events.push("[1]".to_owned());
    events.push(delta("m", &"x".repeat(1000)));
    events.push(delta("m", "never kept"));
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let report = checked("openai", &stream(&events));
    let rows = &report.timelines[0].rows;
    let told: Vec<_> = rows.iter().map(|row| (row.event, row.count, row.event_type.as_deref())).collect();
    let delta = Some("response.output_text.delta");
    let expected = [
        (1, 1, Some("response.created")),
        (2, 1, Some("response.output_item.added")),
        (3, 3, delta),
        (6, 1, None),
        (7, 2, delta),
    ];
    assert_eq!(told, expected);
    assert_eq!(rows[2].text, Some(Piece { text: "Hello you".to_owned(), cut: 0 }));
    assert_eq!(rows[4].text.as_ref().map(|text| (text.text.len(), text.cut)), Some((ROW_BYTES, 610)));
    assert_eq!(rows[2].bar.map(|bar| report.timelines[0].bars[bar].scope.as_str()), Some("text"));
}

/// Timelines are bounded, and the rest is counted.
#[test]
fn timelines_are_bounded() {
    let mut recording = stream(&[r#"{"type":"response.created","response":{"id":"r"}}"#]);
    for item in 0..1000 {
        let long = "x".repeat(200);
        recording.extend(stream(&[
            &format!(r#"{{"type":"response.output_item.added","output_index":{item},"item":{{"type":"function_call","id":"f{item}{long}","name":"{long}"}}}}"#),
            &format!(r#"{{"type":"response.function_call_arguments.delta","item_id":"f{item}{long}","output_index":{item},"delta":"{long}"}}"#),
            &format!(r#"{{"type":"unknown_{item}"}}"#),
            &format!(r#"{{"type":"response.function_call_arguments.done","item_id":"f{item}{long}","output_index":{item},"arguments":7}}"#),
        ]));
    }
    let report = checked("openai", &recording);
    let timeline = &report.timelines[0];
    assert_eq!((timeline.events, timeline.bars.len(), timeline.folded), (4001, BARS, 2001 - BARS as u64));
    assert_eq!(timeline.faulty.len(), FAULTY);
    assert_eq!((timeline.rows.len(), timeline.unlisted), (ROWS, 4001 - ROWS as u64));
    let size = serde_json::to_string(timeline).unwrap().len();
    assert!(size < 200_000, "{size} bytes");
    let names = timeline.bars.iter().filter_map(|bar| bar.name.as_deref());
    assert_eq!(names.map(|name| name.chars().count()).max(), Some(NAME + 1));
    let mut many = Vec::new();
    for number in 0..TURNS {
        many.extend(format!("{{\"exchange\":1,\"request\":{{\"url\":\"/{number}\"}},\"response\":{{\"status\":200}}}}\n{{\"at\":1,\"text\":\"x\"}}\n{{\"at\":1,\"end\":\"closed\"}}\n").into_bytes());
    }
    let report = checked("openai", &many);
    assert_eq!(report.timelines.len() as u64 + report.undrawn, TURNS);
    assert!(report.undrawn > 0);
}

const TURNS: u64 = 120;

#[test]
fn times_show_the_pace_in_few_numbers() {
    let mut recording = String::from(
        "{\"exchange\":1,\"request\":{\"method\":\"POST\",\"url\":\"/\"},\"response\":{\"status\":200,\"headers\":[[\"content-type\",\"text/event-stream\"]]}}\n",
    );
    for number in 0..1000 {
        let at = number + if number > 700 { 5000 } else { 0 };
        let _ = writeln!(recording, "{{\"at\":{at},\"text\":\"data: {{}}\\n\\n\"}}");
    }
    recording += "{\"at\":6000,\"end\":\"lost\",\"reason\":\"reset\"}\n";
    let report = checked("openai", recording.as_bytes());
    let timeline = &report.timelines[0];
    assert_eq!(timeline.pace.every, 16);
    assert_eq!(timeline.pace.times_ms.len(), 63);
    assert_eq!((timeline.pace.times_ms[1], timeline.pace.times_ms[50]), (16, 5800));
    assert_eq!(timeline.silence, Some(Silence { after: 701, ms: 5001 }));
    assert_eq!((timeline.duration_ms, timeline.lost.as_deref()), (Some(5999), Some("reset")));
}

#[test]
fn secrets_of_a_request_are_not_told() {
    let har = r#"{"log":{"entries":[{"request":{"method":"POST","url":"https://a.test/v1/responses?key=sk-4711","headers":[],"postData":{"mimeType":"application/json","text":"{\"api_key\":\"sk-4711\",\"input\":\"Hi\"}"}},"response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{}"}}}]}}"#;
    let report = checked("openai", har.as_bytes());
    let told = serde_json::to_string(&report).unwrap();
    assert!(told.contains("input") && told.contains("[redacted]"), "{told}");
    assert!(!told.contains("4711"), "{told}");
}
