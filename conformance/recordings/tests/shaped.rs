//! Recordings without texts break the same rules, and have no text.

use std::collections::BTreeSet;
use std::hash::RandomState;

use catalogue::rules_in_apis;
use checker::Rules;
use recordings::Checking;
use recordings::capture::Shaper;
use recordings::goldens::GOLDENS;
use recordings::violation;
use serde_json::{Value, json};
use spec::Dialect;

/// Rules that need the text, and find nothing without it.
const NEED_TEXT: [&str; 6] = [
    "candidate/text-before-stop",
    "choice/text-before-stop",
    "generation/line-ends-escaped",
    "stop/sequence-asked",
    "stop/text-before-sequence",
    "text/no-model-markup",
];

#[test]
fn texts_that_begin_alike_have_filler_that_begins_alike() {
    let key = RandomState::new();
    let of = |body: Value| Shaper::keyed(&key).json(&body.to_string());
    let told = |text: &str| of(json!({"content": text}));
    let [one, other] = ["Say it in Oslo: 12 °C, 東京 👩", "Say it in Rome: 12 °C"].map(told);
    let begin = "{\"content\":\"Say it in ".len();
    assert_eq!(one.get(..begin), other.get(..begin));
    assert_ne!(one.get(begin..begin + 4), other.get(begin..begin + 4));
    assert_eq!(one.len(), json!({"content": "Say it in Oslo: 12 °C, 東京 👩"}).to_string().len());
    assert!(!one.contains("Say") && !one.contains("Oslo"), "{one}");
    let text = of(json!({"arguments": json!({"city": "Oslo", "of": "Bergen"}).to_string()}));
    let value = of(json!({"input": {"city": "Oslo", "of": "Bergen"}}));
    let text: Value = serde_json::from_str(&text).unwrap();
    let value: Value = serde_json::from_str(&value).unwrap();
    assert_eq!(serde_json::from_str::<Value>(text["arguments"].as_str().unwrap()).unwrap(), value["input"]);
    assert_ne!(told("Oslo"), Shaper::keyed(&RandomState::new()).json("{\"content\":\"Oslo Oslo Oslo\"}"));
}

fn found(dialect: &'static Dialect, recording: &[u8]) -> Vec<(String, u64)> {
    let report = Checking::new(&Rules::of(dialect), false).check_bytes(String::new(), recording, &mut ());
    report.findings.iter().map(|finding| (finding.rule.to_string(), finding.count)).collect()
}

fn shaped(recording: &[u8]) -> Vec<u8> {
    if recording.starts_with(b"{\"exchange\":") {
        return exchange(std::str::from_utf8(recording).unwrap());
    }
    let head = recording.windows(4).position(|window| window == b"\r\n\r\n");
    let head = head.filter(|_| recording.starts_with(b"HTTP/")).map_or(0, |at| at + 4);
    let (head, body) = recording.split_at(head);
    [head, &Shaper::default().body(body, &[]).body].concat()
}

fn exchange(recording: &str) -> Vec<u8> {
    let mut lines: Vec<Value> = recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    if let Some(Value::String(body)) = lines[0].pointer_mut("/request/body") {
        *body = Shaper::default().json(body);
    }
    let (mut body, mut ends) = (Vec::new(), Vec::new());
    for text in lines.iter().filter_map(|line| line["text"].as_str()) {
        body.extend_from_slice(text.as_bytes());
        ends.push(body.len());
    }
    let shaped = Shaper::default().body(&body, &ends);
    let mut from = 0;
    let chunks = lines.iter_mut().filter_map(|line| line.get_mut("text"));
    for (text, to) in chunks.zip(shaped.ends) {
        *text = String::from_utf8(shaped.body[from..to].to_vec()).unwrap().into();
        from = to;
    }
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect::<String>().into_bytes()
}

#[test]
fn rules_that_need_no_text_find_the_same() {
    let mut differ = BTreeSet::new();
    let mut count = 0;
    for (rule, own) in rules_in_apis() {
        let (dialect, _) = own.violation.golden.split_once('/').unwrap();
        let Some(dialect) = spec::dialect(dialect) else { continue };
        let recording = violation::apply(&own.violation).unwrap();
        let (before, after) = (found(dialect, &recording), found(dialect, &shaped(&recording)));
        if before != after {
            differ.insert((rule.id, after.is_empty()));
        }
        count += 1;
    }
    assert!(count > 300, "{count}");
    assert_eq!(differ, NEED_TEXT.into_iter().map(|rule| (rule, true)).collect());
    for golden in GOLDENS {
        let Some(dialect) = spec::dialect(golden.dialect) else { continue };
        assert_eq!(found(dialect, golden.bytes), found(dialect, &shaped(golden.bytes)), "{}", golden.name);
    }
}

/// The texts that a model or a user wrote.
const TEXTS: [&str; 6] = ["sky", "Paris", "weather", "naïve", "secret", "sk-4711"];

#[test]
fn no_text_is_left() {
    for (api, stream) in [
        (
            "chat",
            r#"{"id":"c","choices":[{"index":0,"delta":{"content":"The sky: na\u00efve, naïve \ud83d\ude00","tool_calls":[{"index":0,"id":"call_1","function":{"name":"get","arguments":"{\"city\": \"Par"}}]},"logprobs":{"content":[{"token":"sky","bytes":[115,107,121],"logprob":-1}]}}]}"#,
        ),
        (
            "chat",
            r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"is, sky\", \"n\": 1.5, \"ok\": true}"}}]}}]}"#,
        ),
        (
            "messages",
            r#"{"type":"tool_use","id":"t","name":"get","input":{"name":"secret","status":"weather","list":["sky"]}}"#,
        ),
        ("errors", r#"{"error":{"code":"invalid","type":"x","message":"the sky is sk-4711"}}"#),
        ("broken", r#"{"id":"c","choices":[{"delta":{"content":"the sky"#),
        ("broken", "the sky is weather: secret"),
    ] {
        let text = Shaper::default().json(stream);
        assert!(!TEXTS.iter().any(|word| text.contains(word)), "{api}: {text}");
        let read = |text: &str| serde_json::from_str::<Value>(text).map(|value| value["id"].clone()).ok();
        assert_eq!(read(&text), read(stream), "{api}: {text}");
    }
    let sse = b": the sky\nevent: error\nid: the sky\nsky\ndata: the sky\xff\ndata: [DONE]\n\n";
    let text = Shaper::default().body(sse, &[20, sse.len()]);
    let expected = b": xxx xxx\nevent: error\nid: xxx xxx\nxxx\ndata: xxx xxx\xff\ndata: [DONE]\n\n";
    assert_eq!((text.body, text.ends), (expected.to_vec(), vec![20, sse.len()]));
}

#[test]
fn arguments_in_pieces_stay_json() {
    let arguments = r#"{"city": "Pa\"ris \u00e9", "days": [1, 2.5], "now": true}"#;
    let mut joined = String::new();
    let mut shaper = Shaper::default();
    for piece in arguments.as_bytes().chunks(3) {
        let piece = std::str::from_utf8(piece).unwrap();
        let data = serde_json::json!({ "index": 1, "delta": { "partial_json": piece } }).to_string();
        let event: Value = serde_json::from_str(&shaper.json(&data)).unwrap();
        joined += event["delta"]["partial_json"].as_str().unwrap();
        // Another block comes between.
        shaper.json(r#"{"index":0,"delta":{"partial_json":"[\"a"}}"#);
    }
    assert_eq!(joined, r#"{"city": "xx\"xxx \u0078", "days": [1, 2.5], "now": true}"#);
    let whole = shaper.json(&serde_json::json!({ "arguments": arguments }).to_string());
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap()["arguments"], joined);
}
