//! The reference gateway over WebSocket connections.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use conformance::capture::Format;
use conformance::gateway::{Embedded, Settings};
use conformance::{Rules, check, goldens};
use serde_json::{Value, json};
use spec::Dialect;

use crate::http;

fn dialect(name: &str) -> &'static Dialect {
    spec::dialect(name).expect("the build has it")
}

fn connect(gateway: &Embedded) -> (TcpStream, String) {
    let mut stream = http::connect(gateway.address());
    stream
        .write_all(
            b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
              sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        .unwrap();
    let head = http::head(&mut stream);
    (stream, head)
}

fn byte(stream: &mut TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

/// Sends a text, masked with zeros.
fn say(stream: &mut TcpStream, text: &str) {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    stream.write_all(&[&[0x81, 0xfe][..], &length, &[0; 4], text.as_bytes()].concat()).unwrap();
}

fn hear(stream: &mut TcpStream) -> String {
    assert_eq!(byte(stream), 0x81, "a text");
    let length = match byte(stream) {
        126 => usize::from(byte(stream)) << 8 | usize::from(byte(stream)),
        127 => panic!("too long"),
        short => usize::from(short),
    };
    let mut text = vec![0; length];
    stream.read_exact(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_connection_ends_with_its_limit() {
    let dialect = dialect("open-responses");
    let settings = Settings { socket_limit: Duration::ZERO, ..Settings::new(dialect) };
    let gateway = Embedded::start(settings).unwrap();
    let (mut socket, _) = connect(&gateway);
    say(
        &mut socket,
        &json!({"type": "response.create", "model": "m", "input": "Name a colour, please. ".repeat(9)})
            .to_string(),
    );
    let refused: Value = serde_json::from_str(&hear(&mut socket)).unwrap();
    assert_eq!(refused["error"]["code"], "websocket_connection_limit_reached");
    say(&mut socket, &json!({"type": "response.cancel", "padding": "x".repeat(200)}).to_string());
    let wrong: Value = serde_json::from_str(&hear(&mut socket)).unwrap();
    assert_eq!(wrong["status"], 400);
}

/// By when it was sent, and only where that is known.
#[test]
fn a_request_is_late_after_an_hour() {
    let golden = goldens::golden("open-responses/websocket-two-turns").unwrap();
    let log = String::from_utf8(golden.bytes.to_vec()).unwrap();
    let rules = Rules::of(dialect("open-responses"));
    let broken = |second_sent: f64, second_answered: f64| {
        let mut requests = 0;
        let timed = log.lines().map(|line| {
            requests += usize::from(line.starts_with("{\"sent\""));
            let time = match (requests, line.starts_with("{\"sent\"")) {
                (1, _) => 100.0,
                (2, true) => 100.0 + second_sent,
                (2, false) => 100.0 + second_answered,
                _ => return format!("{line}\n"),
            };
            format!("{},\"time\":{time}}}\n", &line[..line.len() - 1])
        });
        let timed: String = timed.collect();
        let report = check("log", &mut timed.as_bytes(), Some(Format::WebSocket), &rules);
        report
            .findings
            .iter()
            .map(|finding| format!("{}: {}", finding.rule, finding.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(broken(3660.0, 5000.0), [""; 0]);
    let late =
        "ws/connection-limit: a request 61 minutes after the connection began is answered by a new response";
    assert_eq!(broken(3660.5, 3661.0), [late]);
}

#[test]
fn dialects_whose_messages_would_not_say_what_they_are_have_none() {
    let gateway = Embedded::start(Settings::new(dialect("aitronos"))).unwrap();
    let (_, head) = connect(&gateway);
    assert!(head.starts_with("HTTP/1.1 405 "), "{head}");
}

/// Returns a request in a lane.
fn in_lane(lane: &str, input: &str) -> Value {
    json!({"type": "response.create", "model": "m", "store": false, "stream_id": lane, "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": input}]}]})
}

/// Sends messages. Returns the events until this number of responses has ended or was refused.
fn converse(socket: &mut TcpStream, messages: &[Value], ends: usize) -> (String, Vec<Value>) {
    let mut log = String::new();
    for message in messages {
        say(socket, &format!("{:150}", message.to_string()));
        writeln!(log, "{{\"sent\":{message}}}").unwrap();
    }
    let mut came = Vec::new();
    let mut left = ends;
    while left > 0 {
        let text = hear(socket);
        writeln!(log, "{{\"recv\":{text}}}").unwrap();
        let event: Value = serde_json::from_str(&text).unwrap();
        let kind = event["type"].as_str().unwrap().to_owned();
        let ends = ["error", "response.completed", "response.incomplete", "response.steer.failed"];
        left -= usize::from(ends.contains(&&*kind) || kind.starts_with("response.inject."));
        came.push(event);
    }
    (log, came)
}

/// The maximum number of concurrent lanes works, and one more is refused.
#[test]
fn lanes_have_their_limits() {
    let dialect = dialect("openai");
    let gateway =
        Embedded::start(Settings { pace: Duration::from_millis(1), ..Settings::new(dialect) }).unwrap();
    let (mut socket, _) = connect(&gateway);
    let requests: Vec<Value> = (1..=33)
        .map(|lane| in_lane(&format!("lane_{lane}"), "[[say Hello|, wor|ld.]] And nothing else."))
        .collect();
    let (log, came) = converse(&mut socket, &requests, 33);
    let mut open = std::collections::BTreeSet::new();
    let mut most = 0;
    for event in &came {
        let lane = event["stream_id"].as_str().expect("its lane").to_owned();
        match event["type"].as_str().unwrap() {
            "response.created" => assert!(open.insert(lane)),
            "response.completed" => assert!(open.remove(&lane)),
            "error" => {
                assert_eq!(event["error"]["code"], "websocket_stream_limit_reached");
                assert_eq!(lane, "lane_33");
            }
            _ => assert!(open.contains(&lane)),
        }
        most = most.max(open.len());
    }
    assert_eq!(most, 16);
    let report = check("log", &mut log.as_bytes(), Some(Format::WebSocket), &Rules::of(dialect));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    for name in ["", "a b", &"x".repeat(257)] {
        let (_, came) = converse(&mut socket, &[in_lane(name, "Hello.")], 1);
        assert_eq!(came[0]["error"]["code"], "invalid_stream_id", "{name:?}");
    }
}

/// All replies to messages about a response conform to the dialect.
#[test]
fn responses_are_steered_in_their_lane() {
    let dialect = dialect("openai");
    let gateway = Embedded::start(Settings::new(dialect)).unwrap();
    let (mut socket, _) = connect(&gateway);
    let (mut log, came) = converse(&mut socket, &[in_lane("a", "[[say One| two.]] And wait for nobody.")], 1);
    let id = came[0]["response"]["id"].clone();
    let steer = |id: &Value| json!({"type": "response.steer", "previous_response_id": id, "input": "Stop."});
    let inject = |id: &Value| {
        json!({"type": "response.inject", "response_id": id, "input": [{"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Stop."}]}]})
    };
    let unknown = json!("resp_0");
    for (message, code, lane) in [
        (steer(&id), "response_already_completed", json!("a")),
        (steer(&unknown), "response_not_found", Value::Null),
        (inject(&id), "response_already_completed", json!("a")),
        (inject(&unknown), "response_not_found", Value::Null),
    ] {
        let (more, came) = converse(&mut socket, std::slice::from_ref(&message), 1);
        log += &more;
        assert_eq!(came[0]["error"]["code"], code);
        assert_eq!(came[0]["stream_id"], lane);
    }
    let slow = "[[wait]][[say One| two| three.]] And wait for somebody.";
    let (more, came) =
        converse(&mut socket, &[in_lane("b", slow), in_lane("a", "[[say Hello|.]] At once, please.")], 2);
    log += &more;
    let lanes: Vec<&str> = came.iter().map(|event| event["stream_id"].as_str().unwrap()).collect();
    assert!(lanes.windows(2).filter(|pair| pair[0] != pair[1]).count() > 4, "mixed: {lanes:?}");
    let report = check("log", &mut log.as_bytes(), Some(Format::WebSocket), &Rules::of(dialect));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
