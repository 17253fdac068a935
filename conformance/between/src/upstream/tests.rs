//! What gateways meet at the upstream besides its answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use catalogue::HandlingMode;
use results::Declared;

use super::*;
use crate::evidence::Test;
use crate::plan::plain;

fn upstream() -> Upstream {
    Upstream::start(0, Arc::new(Keys::new(None, None)), "m").unwrap()
}

/// Sends a request, and returns the beginning of what comes back.
fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut buffer = [0; 1024];
    let count = stream.read(&mut buffer).unwrap();
    String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()).into_owned()
}

#[test]
fn an_idle_connection_stays_open() {
    let upstream = upstream();
    let mut stream = TcpStream::connect(upstream.address()).unwrap();
    let request = "GET /v1/models HTTP/1.1\r\nhost: u\r\n\r\n";
    assert!(ask(&mut stream, request).starts_with("HTTP/1.1 200 OK"));
    // Servers of this suite close a connection on which no request begins for 10 s.
    sleep(Duration::from_millis(10_500));
    assert!(ask(&mut stream, request).starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn a_request_without_a_mark_is_counted_for_the_tests_that_run() {
    let upstream = upstream();
    let [front, back] = ["anthropic", "chat"].map(|name| spec::dialect(name).unwrap());
    let test = Test {
        name: "messages-chat/text/plain".to_owned(),
        agent: None,
        case: plain().unwrap(),
        front,
        upstream: back,
        mode: HandlingMode::Transform,
        fault: None,
        mark: "zqmarkaaaaaa".to_owned(),
        model: "m".to_owned(),
        declared: Declared::default(),
        is_limit_known: false,
    };
    let playing = Arc::new(Playing::new(test, "t".to_owned(), Duration::from_millis(100)));
    upstream.begin(&playing);
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Go on."}]}"#;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: u\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(upstream.address()).unwrap();
    assert!(ask(&mut stream, &request).starts_with("HTTP/1.1 200 OK"));
    assert_eq!(playing.unmarked(), 1);
    assert!(playing.exchanges().is_empty());
    assert_eq!(upstream.unaccounted().iter().map(|it| it.times).sum::<u64>(), 1);
}
