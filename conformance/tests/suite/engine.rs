//! The findings of the engine and their locations.

use std::fmt::Write as _;
use std::time::Duration;

use catalogue::Level;
use conformance::capture::{End, Exchange, Recorder, Request};
use conformance::{Checker, Finding, Rules};

use crate::fuzz;

fn dialect(name: &str) -> &'static spec::Dialect {
    spec::dialect(name).expect("the build has it")
}

/// Returns the rules that these tests are about. Other rules are tested by the violations of their pages.
fn rules(name: &str) -> Rules {
    let chosen = [
        "schema/event-known",
        "schema/event-typed",
        "schema/event-valid",
        "wire/json-object",
        "ws/error-envelope",
        "sequence/present",
    ];
    Rules::of(dialect(name)).only(|rule| chosen.contains(&rule.id))
}

fn found(name: &str, stream: &str) -> Vec<Finding> {
    let mut checker = Checker::with_rules(&rules(name));
    checker.push(stream.as_bytes());
    checker.finish();
    checker.into_findings().0
}

fn told(name: &str, stream: &str) -> String {
    let mut text = String::new();
    for finding in found(name, stream) {
        let Finding { rule, level, message, place, pointer, count, .. } = finding;
        let (line, [start, end]) = (place.line, place.bytes.map(|at| usize::try_from(at).unwrap()));
        let place = &stream.as_bytes()[start..end];
        let place = String::from_utf8_lossy(place);
        let pointer = pointer.unwrap_or_default();
        let _ = writeln!(text, "{level:?} {rule} line {line} x{count}: {message} | {pointer} | {place:?}");
    }
    text
}

#[test]
fn a_checker_can_be_sent_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Checker>();
}

/// Many harmless oddities do not hide a later fault.
#[test]
fn a_rule_that_is_broken_late_is_listed() {
    let mut stream = String::new();
    for number in 0..3000 {
        let _ = write!(stream, "data: {{\"type\":\"odd.{number}\",\"sequence_number\":{number}}}\n\n");
    }
    stream += "data: {\n\ndata: [\n\ndata: {\"type\":\"response.queued\",\"sequence_number\":3000}\n\n";
    let found = found("openai", &stream);
    let of = |rule: &str| found.iter().filter(|finding| finding.rule == rule).count();
    assert_eq!(of("schema/event-known"), 1000);
    // The first of each rule, and no more.
    assert_eq!((of("wire/json-object"), of("schema/event-valid")), (1, 1));
}

#[test]
fn faults_have_a_place() {
    let stream = "event: response.refusal.delta\n\
        data: {\"type\":\"response.refusal.delta\",\"item_id\":7,\n\
        data: \"output_index\":0,\"content_index\":\"x\",\"delta\":\"a\",\"sequence_number\":1}\n\n";
    insta::assert_snapshot!(told("openai", stream), @r#"
    Must schema/event-valid line 2 x1: /item_id is number 7, not a string | /item_id | "7"
    Must schema/event-valid line 3 x1: /content_index is string "x", not an integer | /content_index | "\"x\""
    "#);
}

#[test]
fn what_repeats_is_counted() {
    let delta = |index: usize| {
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":{index},\"content_index\":0,\"delta\":\"a\",\"logprobs\":[{{}},{{\"token\":1}}],\"sequence_number\":1}}\n\n"
        )
    };
    let stream: String = (0..4).map(delta).collect();
    insta::assert_snapshot!(told("openai", &stream), @r#"
    Must schema/event-valid line 1 x4: /logprobs/0 lacks property "token" | /logprobs/0 | "{}"
    Must schema/event-valid line 1 x8: /logprobs/0 lacks property "logprob" | /logprobs/0 | "{}"
    Must schema/event-valid line 1 x4: /logprobs/1/token is number 1, not a string | /logprobs/1/token | "1"
    "#);
}

#[test]
fn data_that_are_no_object() {
    let stream = "data: {\"type\":\"response.created\",\n\ndata:\n\ndata: [1]\n\ndata: \"x\"\n\ndata: null\n\n: ping\n\ndata: [DONE]\n\n";
    insta::assert_snapshot!(told("openai", stream), @r#"
    Must wire/json-object line 1 x1: the data is not JSON: expected the name of a member |  | "\n"
    Must wire/json-object line 3 x1: the data is not JSON: it is empty |  | "\n"
    Must wire/json-object line 5 x1: the data is an array, not an object |  | "data: [1]\n"
    Must wire/json-object line 7 x1: the data is a string, not an object |  | "data: \"x\"\n"
    Must wire/json-object line 9 x1: the data is null, not an object |  | "data: null\n"
    "#);
}

#[test]
fn events_of_no_known_type() {
    let stream = "event: acme:trace\ndata: {\"type\":\"acme:trace\",\"sequence_number\":0}\n\n\
        data: {\"type\":\"response.thinking\",\"sequence_number\":1}\n\n\
        event: response.created\ndata: {}\n\n";
    for (name, expected) in [("open-responses", 2), ("openai", 3), ("wave", 1)] {
        let findings = found(name, stream);
        let known = findings
            .iter()
            .filter(|finding| ["schema/event-known", "schema/event-typed"].contains(&&*finding.rule));
        assert_eq!(known.map(|finding| finding.count).sum::<u64>(), expected, "{name}");
    }
    insta::assert_snapshot!(told("open-responses", stream), @r#"
    Must schema/event-known line 4 x1: open-responses has no event "response.thinking" | /type | "\"response.thinking\""
    Must schema/event-typed line 7 x1: the event has no type |  | "event: response.created\ndata: {}\n"
    "#);
    assert!(told("openai", stream).starts_with("May schema/event-known"));
}

#[test]
fn the_event_line_tells_where_the_dialect_says_so() {
    let stream = "event: response.output_text.delta\ndata: {\"index\":0,\"delta\":1}\n\n";
    assert_eq!(found("aitronos", stream)[0].place.event_type.as_deref(), Some("response.output_text.delta"));
    assert_eq!(found("openai", stream)[0].place.event_type, None);
}

#[test]
fn a_stream_of_endless_faults_is_bounded() {
    let mut checker = Checker::with_rules(&rules("openai"));
    for number in 0..3000 {
        checker.push(format!("data: {{\"type\":\"made.up.{number}\"}}\n\n").as_bytes());
    }
    assert_eq!((checker.findings().len(), checker.omitted(), checker.events()), (1000, 2000, 3000));
}

/// Items whose texts begin and are never finished, and a final output with these texts.
fn unfinished(streamed: &[String], kept: &[String]) -> u64 {
    let rules = Rules::of(dialect("openai")).only(|rule| rule.id == "output/text-kept");
    let mut checker = Checker::with_rules(&rules);
    let created = r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
    checker.event(created);
    for (index, text) in streamed.iter().enumerate() {
        let event = |name: &str, rest: &str| {
            format!(
                r#"{{"type":"response.{name}","output_index":{index},"sequence_number":{},{rest}}}"#,
                index + 1
            )
        };
        let item = format!(
            r#""item":{{"type":"message","id":"m_{index}","status":"in_progress","role":"assistant","content":[]}}"#
        );
        let of = format!(r#""item_id":"m_{index}","content_index":0"#);
        checker.event(&event("output_item.added", &item));
        let part = r#""part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}"#;
        checker.event(&event("content_part.added", &format!("{of},{part}")));
        checker.event(&event("output_text.delta", &format!(r#"{of},"delta":"{text}","logprobs":[]"#)));
    }
    let entry = |text: &String| {
        format!(r#"{{"type":"message","id":"","content":[{{"type":"output_text","text":"{text}"}}]}}"#)
    };
    let output: Vec<String> = kept.iter().map(entry).collect();
    let status = r#"{"type":"response.incomplete","sequence_number":9,"response":{"id":"r","object":"response","status":"incomplete","output":["#;
    checker.event(&format!("{status}{}]}}}}", output.join(",")));
    checker.finish();
    checker.findings().iter().map(|finding| finding.count).sum()
}

#[test]
fn texts_that_were_never_finished_are_looked_for() {
    let texts = |begin: &str, count: usize| -> Vec<String> {
        (0..count).map(|number| format!("{begin} {number}.")).collect()
    };
    let streamed = texts("Said", 200);
    assert_eq!(unfinished(&streamed, &streamed), 0);
    // A later text may continue a streamed one, or contain it.
    assert_eq!(
        unfinished(&texts("Said", 3), &["Said 0. And more.".into(), "I said: Said 2. Said 1.".into()]),
        0
    );
    assert_eq!(unfinished(&texts("Said", 3), &["Said 0.".into(), "Sai".into()]), 2);
    assert_eq!(unfinished(&[String::new()], &[]), 0);
    assert_eq!(unfinished(&streamed, &[&texts("Kept", 200)[..], &streamed[..100]].concat()), 100);
    assert_eq!(unfinished(&streamed, &texts("Kept", 200)), 100);
}

#[test]
fn an_error_on_a_websocket_has_an_envelope_of_its_own() {
    let envelope = r#"{"type":"error","status":400,"error":{"type":"invalid_request_error","code":"x","message":"y","param":null}}"#;
    for (recording, expected) in [
        (format!("{{\"recv\":{envelope}}}"), 0),
        (format!("{{\"recv\":{}}}", envelope.replace("400", "\"400\"")), 1),
        (format!("data: {envelope}\n\n"), 1),
    ] {
        let report = conformance::check("x", &mut recording.as_bytes(), None, &rules("open-responses"));
        assert_eq!(report.findings.len(), expected, "{recording}: {:?}", report.findings);
    }
}

/// Without recorded headers, the content type is not checked.
#[test]
fn headers_that_nobody_kept_are_not_judged() {
    let faults = |header: &str| {
        let body = "event: response.created\ndata: {}\n\n";
        let recording = format!("HTTP/1.1 200 OK\r\n{header}\r\n{body}");
        let rules = Rules::of(dialect("openai")).only(|rule| rule.id.ends_with("content-type"));
        let report = conformance::check("a", &mut recording.as_bytes(), None, &rules);
        report.findings.into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(faults("Date: today\r\n"), ["wire/event-stream-content-type"]);
    assert_eq!(faults("Content-Type: text/event-stream\r\n"), [""; 0]);
    assert_eq!(faults(""), [""; 0]);
}

/// Bare events do not show where a connection ends, but a stream of server-sent events is one connection.
#[test]
fn one_response_after_the_other_is_no_fault_where_nothing_frames_them() {
    let stream = conformance::goldens::golden("openai/text").unwrap().bytes;
    let events = fuzz::recordings::data(stream).join("\n");
    let found = |recording: String| {
        let report = conformance::check("a", &mut recording.as_bytes(), None, &Rules::of(dialect("openai")));
        let rules: Vec<_> = report.findings.into_iter().map(|finding| finding.rule).collect();
        (report.streams, rules.iter().any(|rule| rule == "response/one-terminal"), rules.len())
    };
    let other = events.replace("\"resp_", "\"resp_of_another_");
    assert_ne!(other, events);
    assert_eq!(found(format!("{events}\n{other}")), (2, false, 0));
    assert_eq!(found(format!("[{events}\n{other}]").replace('\n', ",")), (2, false, 0));
    let (streams, is_told, _) = found(format!("{events}\n{events}"));
    assert_eq!((streams, is_told), (1, true), "it is the same response");
    let text = String::from_utf8_lossy(stream);
    let (streams, is_told, _) = found(format!("{text}{text}"));
    assert_eq!((streams, is_told), (1, true));
    // Events after the end are a fault unless they begin a new response.
    let last = events.rsplit('\n').next().unwrap();
    let (streams, is_told, _) = found(format!("{events}\n{last}"));
    assert_eq!((streams, is_told), (1, true));
}

/// Events outside the response, such as rate limits, do not begin it.
#[test]
fn early_events_do_not_begin_a_response() {
    let golden = |name: &str| conformance::goldens::golden(name).expect("a golden").bytes;
    let stream = String::from_utf8(golden("codex/text").to_vec()).expect("it is text");
    let chosen = ["response/created-first", "response/created-once", "response/in-progress-second"];
    let broken = |stream: &str| {
        let rules = Rules::of(dialect("codex")).only(|rule| chosen.contains(&rule.id));
        let mut checker = Checker::with_rules(&rules);
        checker.push(stream.as_bytes());
        checker.finish();
        checker.findings().iter().map(|finding| finding.rule.to_string()).collect::<Vec<_>>()
    };
    let frames: Vec<&str> = stream.split_inclusive("\n\n").collect();
    assert!(frames[0].contains("codex.rate_limits") && frames[2].contains("response.created"));
    assert_eq!(broken(&stream), Vec::<String>::new());
    let without = |at: usize| [&frames[..at], &frames[at + 1..]].concat().concat();
    assert_eq!(broken(&without(2)), ["response/created-first"]);
    assert_eq!(broken(&without(3)), ["response/in-progress-second"]);
    let twice = [&frames[..3], &frames[2..]].concat().concat();
    assert_eq!(broken(&twice), ["response/created-once"]);
}

/// Returns the findings in a recording with a stream as the response to a request.
fn requested(method: &str, stream: &str) -> Vec<(Level, String)> {
    let recorder = Recorder::new();
    let url = "https://gateway.test/v1/responses".into();
    let exchange = Exchange {
        status: Some(200),
        headers: vec![("content-type".into(), "text/event-stream".into())],
        request: Some(Request { method: method.to_owned().into(), url, ..Request::default() }),
        ..Exchange::default()
    };
    let recording = recorder.begin(&exchange)
        + &recorder.chunk(Duration::ZERO, stream.as_bytes())
        + &recorder.end(Duration::ZERO, End::Closed);
    let report = conformance::check("a", &mut recording.as_bytes(), None, &Rules::of(dialect("openai")));
    report.findings.into_iter().map(|finding| (finding.level, finding.rule.into_owned())).collect()
}

#[test]
fn a_response_that_was_never_created() {
    let golden = conformance::goldens::golden("openai/text").expect("a golden").bytes;
    let text = String::from_utf8_lossy(golden);
    let frames: Vec<&str> = text.split_inclusive("\n\n").collect();
    // A client that has received the first events requests the rest.
    let (late, later) = (frames[1..].concat(), frames[2..].concat());
    let found = |level| Some((level, "response/created-first".to_owned()));
    assert_eq!(requested("POST", &late).into_iter().next(), found(Level::Must));
    assert_eq!(requested("post", &later).into_iter().next(), found(Level::Must));
    assert_eq!(requested("GET", &late), []);
    let mut checker = Checker::new(dialect("openai"));
    checker.push(late.as_bytes());
    checker.finish();
    let findings: Vec<_> = checker.findings().iter().map(|it| (it.level, it.rule.to_string())).collect();
    assert_eq!(findings, [found(Level::May).expect("a finding")]);
    checker.reset();
    checker.push(later.as_bytes());
    checker.finish();
    assert_eq!(checker.findings(), []);
}

#[test]
fn streams_of_other_apis() {
    for stream in [
        "event: thread.run.created\ndata: {\"id\":\"run_1\",\"object\":\"thread.run\"}\n\n",
        "data: {\"type\":\"session.created\",\"session\":{}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ] {
        assert_eq!(
            requested("POST", stream),
            [(Level::Must, "schema/foreign-protocol".to_owned())],
            "{stream}"
        );
    }
}
