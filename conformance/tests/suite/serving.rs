//! The reference gateway for client developers: faults by request, a log, web pages, streaming and replays.

use std::io::{self, Read as _, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use conformance::Rules;
use conformance::gateway::{Embedded, Log, Replay, Settings, fault_list, replay};
use serde_json::json;
use spec::Dialect;
use tokio::net::TcpListener;

use crate::http::{self, ask, connect};

fn openai() -> &'static Dialect {
    spec::dialect("openai").expect("the build has it")
}

/// Returns the number of chunks in which a response is sent.
fn chunks(to: SocketAddr, body: &str) -> usize {
    let mut stream = connect(to);
    let length = body.len();
    let head = "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: close";
    stream.write_all(format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (_, mut rest) = response.split_once("\r\n\r\n").unwrap();
    let mut chunks = 0;
    loop {
        let (size, behind) = rest.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return chunks;
        }
        chunks += 1;
        rest = &behind[size + 2..];
    }
}

fn hello(model: &str, input: &str) -> String {
    json!({"model": model, "input": input, "stream": true}).to_string()
}

const SAY: &str = "[[say Hello|, wor|ld.]]";

#[test]
fn a_request_names_its_fault_in_four_ways() {
    let gateway = Embedded::start(Settings::new(openai())).unwrap();
    let to = gateway.address();
    let plain = hello("m", SAY);
    let header = "x-conformance-fault: part/before-open\r\n";
    let answers = [
        ask(to, "POST", "/v1/responses", "", &hello("fault:part/before-open", SAY)),
        ask(to, "POST", "/v1/responses", header, &plain),
        ask(to, "POST", "/fault/part/before-open/v1/responses", "", &plain),
        ask(to, "POST", "/v1/responses", "", &hello("m", &format!("[[fault part/before-open]]{SAY}"))),
    ];
    for answer in answers {
        assert_eq!(answer.broken(openai()), ["part/before-open"], "{}", answer.head);
        assert_eq!(answer.header("x-conformance-fault"), Some("part/before-open: applied"));
    }
    let sound = ask(to, "POST", "/v1/responses", "", &plain);
    assert_eq!((sound.broken(openai()), sound.header("x-conformance-fault")), (vec![], None));

    let two = ask(to, "POST", "/fault/part/before-open,crlf/v1/responses", "", &plain);
    assert_eq!(two.header("x-conformance-fault"), Some("part/before-open: applied; crlf: applied"));
    assert!(two.body.windows(2).any(|pair| pair == b"\r\n"));

    let unfit = ask(to, "POST", "/fault/call/arguments-joined/v1/responses", "", &plain);
    let told = unfit.header("x-conformance-fault").unwrap();
    assert!(told.starts_with("call/arguments-joined: not applied, ") && told.contains("[[call"), "{told}");
    assert_eq!(unfit.broken(openai()), Vec::<String>::new());

    for (path, headers) in [
        ("/fault/part/befor-open/v1/responses", String::new()),
        ("/v1/responses", "x-conformance-fault: no-such\r\n".to_owned()),
        (
            "/v1/responses",
            format!(
                "x-conformance-fault: {}\r\n",
                ["cut,crlf,slow,gzip,stall"; 1].join(",")
                    + ",huge-line,split-utf8,wrong-content-type,early-close"
            ),
        ),
    ] {
        let refused = ask(to, "POST", path, &headers, &plain);
        assert_eq!(refused.status(), 400, "{path} {headers}");
    }
    let incomplete = ask(to, "POST", "/fault/part/before-open", "", &plain);
    assert_eq!(incomplete.status(), 404);
}

#[test]
fn each_listed_fault_can_be_asked_for_with_its_request() {
    let faults = fault_list([&Rules::of(openai())]);
    assert!(faults.len() > 120, "{}", faults.len());
    let gateway = Embedded::start(Settings::new(openai())).unwrap();
    let kind = |fault: &conformance::gateway::FaultInfo| serde_json::to_value(fault.kind).unwrap();
    for fault in faults.iter().filter(|fault| kind(fault) == "rule").step_by(5) {
        let path = format!("/fault/{}/v1/responses", fault.fault);
        let answer = ask(gateway.address(), "POST", &path, "", &fault.request.to_string());
        let broken = answer.broken_for(&fault.request, openai());
        assert!(broken.iter().any(|rule| rule == fault.fault), "{}: {}", fault.fault, answer.head);
        assert_eq!(answer.header("x-conformance-fault"), Some(&*format!("{}: applied", fault.fault)));
    }
    let listed = ask(gateway.address(), "GET", "/faults", "", "");
    assert_eq!(listed.json(), serde_json::to_value(&faults).unwrap());
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_log_has_a_line_for_each_request() {
    let lines = Lines::default();
    let settings = Settings { log: Some(Log::new(lines.clone())), ..Settings::new(openai()) };
    let gateway = Embedded::start(settings).unwrap();
    let to = gateway.address();
    ask(to, "POST", "/fault/part/before-open/v1/responses", "", &hello("m", SAY));
    ask(to, "POST", "/v1/responses", "", &hello("m\u{1b}[31m\n", "[[fault call/arguments-joined]]"));
    ask(to, "GET", "/v1/nothing\u{1b}", "", "");
    ask(to, "GET", "/v1/nothing\u{202e}", "", "");
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let log: Vec<&str> = log.lines().collect();
    assert_eq!(
        log[0],
        "POST /fault/part/before-open/v1/responses 200 text/event-stream; part/before-open: applied"
    );
    assert!(
        log[1].starts_with("POST /v1/responses 200 text/event-stream; call/arguments-joined: not applied, ")
    );
    assert!(log.len() <= 3 && log.iter().all(|line| !line.contains(['\u{1b}', '\u{202e}'])), "{log:?}");
}

#[test]
fn web_pages_of_this_machine_may_ask() {
    let settings = Settings { origins: vec!["https://a.test".to_owned()], ..Settings::new(openai()) };
    let gateway = Embedded::start(settings).unwrap();
    let ask = |method: &str, origin: &str| {
        let headers = format!(
            "origin: {origin}\r\naccess-control-request-method: POST\r\naccess-control-request-headers: authorization\r\n"
        );
        ask(gateway.address(), method, "/v1/responses", &headers, &hello("m", SAY))
    };
    for origin in ["http://localhost:5173", "https://a.test"] {
        let preflight = ask("OPTIONS", origin);
        assert_eq!(preflight.status(), 204, "{}", preflight.head);
        assert_eq!(preflight.header("access-control-allow-origin"), Some(origin));
        assert_eq!(preflight.header("access-control-allow-headers"), Some("authorization"));
        assert_eq!(ask("POST", origin).header("access-control-allow-origin"), Some(origin));
    }
}

/// Returns the head of the response to a request with these headers, of which `host` is one.
fn head(to: SocketAddr, method: &str, headers: &str) -> String {
    let mut stream = connect(to);
    let length = if method == "POST" { "content-length: 2\r\n\r\n{}" } else { "\r\n" };
    let request = format!("{method} /v1/responses HTTP/1.1\r\n{headers}{length}");
    stream.write_all(request.as_bytes()).unwrap();
    http::head(&mut stream)
}

#[test]
fn web_pages_of_others_are_refused() {
    let gateway = Embedded::start(Settings::new(openai())).unwrap();
    let head = |method: &str, headers: &str| head(gateway.address(), method, headers);
    let socket = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                  sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let own = "host: localhost:1\r\norigin: http://localhost:5173\r\n";
    assert!(head("GET", &format!("{own}{socket}")).starts_with("HTTP/1.1 101 "));
    // Without an origin, it is a program, or a page that reads from its own name for this machine.
    for foreign in [
        "host: localhost:1\r\norigin: https://b.test\r\n",
        "host: localhost:1\r\norigin: null\r\n",
        "host: b.test:8080\r\norigin: http://b.test:8080\r\n",
        "host: b.test:8080\r\nuser-agent: Mozilla/5.0\r\n",
    ] {
        for (method, more) in [("POST", ""), ("OPTIONS", ""), ("DELETE", ""), ("GET", ""), ("GET", socket)] {
            let refused = head(method, &format!("{foreign}{more}"));
            assert!(refused.starts_with("HTTP/1.1 403 "), "{method} {foreign}: {refused}");
            assert!(!refused.contains("access-control-allow-origin"), "{refused}");
        }
    }
}

#[test]
fn streams_come_event_by_event_without_a_pace() {
    let gateway = Embedded::start(Settings::new(openai())).unwrap();
    let answer = ask(gateway.address(), "POST", "/v1/responses", "", &hello("m", SAY));
    assert_eq!(answer.header("content-length"), None);
    let events = answer.body.windows(2).filter(|end| end == b"\n\n").count();
    assert!(events > 1);
    assert_eq!(chunks(gateway.address(), &hello("m", SAY)), events);
    let long = Embedded::start(Settings { fragments: 20_000, ..Settings::new(openai()) }).unwrap();
    let began = Instant::now();
    let answer = ask(long.address(), "POST", "/v1/responses", "", &hello("m", SAY));
    assert!(
        answer.broken(openai()).is_empty() && began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn the_first_page_is_help() {
    let gateway = Embedded::start(Settings::new(openai())).unwrap();
    let text = ask(gateway.address(), "GET", "/", "", "");
    let words = text.text();
    assert!(words.contains("/fault/ID/v1") && words.contains("part/before-open"), "{words}");
    let html = ask(gateway.address(), "GET", "/", "accept: text/html\r\n", "");
    assert!(
        html.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'"))
    );
    assert!(html.body.starts_with(b"<!DOCTYPE html>"));
}

/// Serves recordings while something is done.
fn with_replays<T: Send>(replays: Vec<Replay>, then: impl FnOnce(SocketAddr) -> T + Send) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
    let to = listener.local_addr().unwrap();
    let server = runtime.spawn(replay(
        listener,
        spec::openai::DIALECT.api,
        replays,
        Vec::new(),
        None,
        std::future::pending(),
    ));
    let result = then(to);
    server.abort();
    result
}

#[test]
fn recordings_are_played_as_they_came() {
    let stream =
        b"event: a\r\ndata: {\"type\":\"a\"}\r\n\r\n: ping\n\ndata: {\"type\":\"b\"}\n\ndata: [DONE]\n\n";
    let recorder = conformance::capture::Recorder::new();
    let mut exchange = recorder.begin(&conformance::capture::Exchange {
        status: Some(200),
        headers: vec![("content-type".into(), "text/event-stream".into())],
        ..Default::default()
    });
    exchange += &recorder.chunk(Duration::from_millis(0), b"data: {\"n\":1}\n\n");
    exchange += &recorder.chunk(Duration::from_millis(300), b"data: {\"n\":2}\n\n");
    exchange += &recorder.end(Duration::from_millis(301), conformance::capture::End::Closed);
    let refused = b"HTTP/1.1 429 \r\ncontent-type: application/json\r\n\r\n{\"error\":{}}";
    let read = |name: &str, bytes: &[u8], speed| Replay::read(name, bytes, speed).unwrap();
    let mut replays = read("stream", stream, 1.0);
    replays.extend(read("slow", exchange.as_bytes(), 1.0));
    replays.extend(read("fast", exchange.as_bytes(), 0.0));
    replays.extend(read("refused", refused, 1.0));
    replays.extend(read("fast", refused, 1.0));
    replays.extend(read("a b é", refused, 1.0));
    Replay::number(&mut replays);
    with_replays(replays, |to| {
        let first = ask(to, "POST", "/v1/responses", "", "{}");
        assert_eq!(first.text(), String::from_utf8_lossy(stream));
        assert_eq!(first.header("content-type"), Some("text/event-stream"));
        let timed = |path: &str, body: &str| {
            let began = Instant::now();
            let answer = ask(to, "POST", path, "", body);
            (answer.text(), began.elapsed())
        };
        let (slow, took) = timed("/v1/responses", "{\"model\":\"replay:slow\"}");
        assert_eq!(slow, "data: {\"n\":1}\n\ndata: {\"n\":2}\n\n");
        assert!(took >= Duration::from_millis(290), "{took:?}");
        let (fast, took) = timed("/replay/fast/v1/responses", "{}");
        assert!(fast == slow && took < Duration::from_millis(250), "{took:?}");
        assert_eq!(ask(to, "POST", "/replay/refused/v1/responses", "", "{}").status(), 429);
        assert_eq!(ask(to, "POST", "/replay/fast-2/v1/responses", "", "{}").status(), 429);
        assert_eq!(ask(to, "POST", "/replay/a%20b%20%C3%A9/v1/responses", "", "{}").status(), 429);
        assert_eq!(ask(to, "POST", "/replay/no-such/v1/responses", "", "{}").status(), 404);
        assert_eq!(ask(to, "GET", "/v1/models", "", "").status(), 404);
    });
}
