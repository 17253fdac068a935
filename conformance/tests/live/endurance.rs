//! Endpoints and signals that could prolong a run, or end it too early.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use conformance::gateway::{Embedded, Settings};

use crate::program::{command, conformance, expect, folder, path};
use crate::server::{Server, head, text};

#[test]
#[cfg(unix)]
fn sigterm_ends_a_run_as_ctrl_c_does() {
    let server = Server::new(|request, stream| {
        if request.number == 1 {
            head(stream, "200 OK", "text/event-stream", "");
            thread::sleep(Duration::from_secs(20));
        }
        text(request, stream);
    });
    let out = folder("terminated");
    let args = ["--target", &server.url, "text/", "--attempts", "1", "--out", path(&out)];
    let child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let start = Instant::now();
    while server.requests().len() < 2 && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(100));
    terminate(child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(start.elapsed() < Duration::from_secs(15));
    for file in ["report.json", "certificate.json", "certificate.md"] {
        assert!(out.join(file).exists(), "{file}");
    }
    expect(&conformance(&["verify", path(&out)]), 0, &[]);
}

#[cfg(unix)]
fn terminate(id: u32) {
    let sent = Command::new("kill").args(["-TERM", &id.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

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
