//! The end of a stream is checked once.

use checker::{Checker, Finding, Frame, Transport};
use recordings::goldens::{self, Golden};

fn golden() -> &'static Golden {
    goldens::golden("openai/text").expect("the golden")
}

fn checker() -> Checker {
    Checker::new(spec::dialect("openai").expect("the dialect"))
}

#[test]
fn a_second_end_changes_nothing() {
    for length in 0..golden().bytes.len() {
        // Every cut at which something can end, and some others.
        if length % 97 != 0 && !golden().bytes[..length].ends_with(b"\n") {
            continue;
        }
        let mut checker = checker();
        checker.push(&golden().bytes[..length]);
        checker.finish();
        let (found, events) = (checker.findings().to_vec(), checker.events());
        assert!(checker.finish().is_empty());
        assert_eq!((checker.findings(), checker.events()), (&*found, events), "after {length} bytes");
        checker.take_findings();
        checker.finish();
        assert!(checker.findings().is_empty());
    }
}

#[test]
fn what_comes_behind_an_end_has_one_of_its_own() {
    let unended = |checker: &Checker| {
        let is_it = |finding: &&Finding| finding.rule == "response/one-terminal";
        checker.findings().iter().filter(is_it).map(|finding| finding.count).sum::<u64>()
    };
    let (mut checker, start) = (checker(), &golden().bytes[..golden().bytes.len() / 2]);
    checker.push(start);
    checker.finish();
    assert_eq!(unended(&checker), 1);
    checker.push(b"data: {}\n\n");
    checker.finish();
    assert_eq!(unended(&checker), 2);
    checker.reset();
    checker.push(start);
    checker.finish();
    assert_eq!(unended(&checker), 1);

    // A request without a response.
    let data = "{\"type\":\"response.create\",\"model\":\"a\",\"input\":\"b\"}";
    let frame = Frame { data: Some(data.into()), transport: Transport::WebSocket, ..Frame::default() };
    checker.reset();
    for requests in 1..3 {
        checker.sent(&frame);
        checker.finish();
        checker.finish();
        assert_eq!(checker.findings().iter().map(|finding| finding.count).sum::<u64>(), requests);
    }
}

#[test]
fn spoken_output_may_expire_before_its_choice_finishes() {
    let chunk = |choice: &str| {
        let head = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1785000000,"model":"gpt-audio-1.5""#;
        format!("data: {head},\"choices\":[{{\"index\":0,{choice}}}]}}\n\n")
    };
    let start = chunk(r#""delta":{"role":"assistant","refusal":null},"finish_reason":null"#);
    let audio = chunk(r#""delta":{"audio":{"id":"audio_1","data":"AAAB"}},"finish_reason":null"#);
    let expiry = chunk(r#""delta":{"audio":{"expires_at":1785003600}}"#);
    let finish = chunk(r#""delta":{},"finish_reason":"stop""#);
    let found = |chunks: &[&str]| {
        let mut checker = Checker::new(spec::dialect("chat").expect("the dialect"));
        checker.push(format!("{}data: [DONE]\n\n", chunks.concat()).as_bytes());
        checker.finish();
        checker.findings().iter().map(|finding| finding.rule.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(&[&start, &audio, &expiry]), [""; 0]);
    assert_eq!(found(&[&start, &audio, &finish, &expiry]), [""; 0]);
    assert_eq!(found(&[&start, &audio, &expiry, &finish]), [""; 0]);
    for twice in [[&expiry, &finish, &finish], [&finish, &expiry, &finish]] {
        assert_eq!(found(&[&start, &audio, twice[0], twice[1], twice[2]]), ["choice/finished-once"]);
    }
}

/// A second block at the index of an open one takes over its events, so that nothing can close the first.
#[test]
fn a_block_whose_index_is_taken_is_no_cause_of_its_own() {
    let event =
        |data: &str| format!("event: {}\ndata: {data}\n\n", data.split('"').nth(3).expect("its type"));
    let start = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}"#;
    let text = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}"#;
    let last = r#"{"type":"message_stop"}"#;
    let mut checker = Checker::new(spec::dialect("anthropic").expect("the dialect"));
    checker.push([start, text, call, stop, end, last].map(event).concat().as_bytes());
    checker.finish();
    let of = |rule: &str| checker.findings().iter().find(|finding| finding.rule == rule);
    assert!(of("block/reopened").expect("it is reported").follows_from.is_none());
    for effect in ["block/never-closed", "block/one-at-a-time"] {
        let origin = of(effect).and_then(|finding| finding.follows_from.as_ref());
        assert_eq!(origin.map(|origin| &*origin.rule), Some("block/reopened"), "{effect}");
    }
}
