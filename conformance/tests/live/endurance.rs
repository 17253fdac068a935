//! Requests that could keep the reference gateway busy.

use std::fs;
use std::time::{Duration, Instant};

use conformance::gateway::{Embedded, Settings};

use crate::program::{conformance, folder, path};

/// Connections without a complete request head are closed.
#[test]
fn who_does_not_end_the_head_of_a_request_is_hung_up_on() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    let dialect = conformance::dialect("openai").expect("it is known");
    let gateway = Embedded::start(Settings::new(dialect)).expect("a port is free");
    let mut stream = TcpStream::connect(gateway.address()).expect("it listens");
    stream.write_all(b"POST /v1/responses HTTP/1.1\r\nhost: a\r\n").expect("it is taken");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it can be set");
    let start = Instant::now();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the gateway hangs up");
    assert!(start.elapsed() < Duration::from_secs(15));
}

/// A request is no reason to make millions of events.
#[test]
fn directives_have_an_end() {
    let dialect = conformance::dialect("openai").expect("it is known");
    let gateway = Embedded::start(Settings::new(dialect)).expect("a port is free");
    let out = folder("directives");
    fs::create_dir_all(&out).expect("it can be made");
    let body = out.join("body.json");
    let input = format!("[[say {}]][[say Hello]]", "a|".repeat(400_000));
    fs::write(&body, serde_json::json!({"input": input, "stream": true}).to_string())
        .expect("it can be written");
    let recording = conformance(&["record", "--target", &gateway.url(), "--body", path(&body)]);
    assert_eq!(recording.code, Some(0), "{}", recording.stderr);
    assert!(recording.stdout.len() < input.len() + 100_000, "{} bytes", recording.stdout.len());
}
