//! Endpoints and signals that could prolong a run, or end it too early.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use conformance::gateway::{Embedded, Settings};

use crate::program::{command, conformance, expect, folder, hello, path};
use crate::server::{Request, Server, head, text, write};

fn busy(after: &'static str) -> Server {
    Server::new(move |_: &Request, stream| {
        head(stream, "429 Busy", "application/json", after);
        write(stream, "{\"error\":{\"message\":\"busy\",\"type\":\"too_many_requests\"}}");
    })
}

#[test]
fn no_time_to_wait_is_too_long() {
    for after in ["retry-after: 18446744073709551615\r\n", "retry-after-ms: 18446744073709551615\r\n"] {
        let server = busy(after);
        let run = hello(&server, &[]);
        expect(&run, 2, &["the endpoint responds with 429"]);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_busy_endpoint_is_not_kept_busy() {
    for after in ["retry-after: 0\r\n", "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n"] {
        let server = busy(after);
        let start = Instant::now();
        expect(&hello(&server, &[]), 2, &["the endpoint responds with 429"]);
        assert_eq!(server.requests().len(), 5);
        // Each delay is twice as long as the previous one.
        assert!(start.elapsed() >= Duration::from_millis(1500));
    }
}

#[test]
fn a_run_ends_when_an_endpoint_only_refuses() {
    let server = busy("");
    let run = conformance(&["--target", &server.url, "text/"]);
    expect(&run, 2, &["error[rate]: the endpoint responds with 429 Too Many Requests"]);
    assert!(run.stderr.contains("stopped after 3 of "), "{}", run.stderr);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_run_has_a_budget() {
    let (server, out) = (Server::new(text), folder("budget"));
    let run = ["--target", &server.url, "text/", "--attempts", "1"];
    let bytes = conformance(&[&run[..], &["--max-total-bytes", "1", "--out", path(&out)]].concat());
    assert!(bytes.stdout.contains("not sent: the run reached --max-total-bytes"));
    assert_eq!(server.requests().len(), 1);
    expect(&conformance(&["verify", path(&out)]), 0, &[]);
    let again = fs::read_to_string(out.join("certificate.md")).expect("it is written");
    assert!(again.contains("--max-total-bytes 1"), "{again}");
    let slow = Server::new(|request, stream| {
        thread::sleep(Duration::from_millis(700));
        text(request, stream);
    });
    let start = Instant::now();
    let run = ["--target", &slow.url, "text/", "--attempts", "1", "--max-total-time", "1s"];
    let time = conformance(&run);
    assert!(time.stdout.contains("not sent: the run reached --max-total-time"));
    assert!(slow.requests().len() == 2 && start.elapsed() < Duration::from_secs(10));
}

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

#[test]
#[cfg(unix)]
fn sigterm_ends_a_gateway_as_ctrl_c_does() {
    use std::io::{BufRead as _, BufReader};

    let mut child = command(&["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
    terminate(child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[cfg(unix)]
fn terminate(id: u32) {
    let sent = Command::new("kill").args(["-TERM", &id.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
#[cfg(unix)]
fn pipes_in_folders_are_not_read() {
    let folder = folder("pipes");
    fs::create_dir_all(&folder).expect("it can be made");
    fs::write(folder.join("a.sse"), crate::server::golden("openai/text")).expect("it can be written");
    let pipe = folder.join("b.sse");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    expect(&conformance(&["check", path(&folder)]), 0, &["passed: 1 file"]);
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
