//! WebSocket connections pass byte for byte, and their turns are judged.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::{Compress, Compression, FlushCompress};
use gateway::{Embedded, Settings};
use recordings::goldens::golden;
use tap::{Evidence, Judge, Judged, Keep, Limits, Lost, Metrics, Outcome, Passed};

use crate::scene::Tapped;

const PATH: &str = "/v1/responses";

/// Behind the path.
const UPGRADE: &str = " HTTP/1.1\r\nHost: a.test\r\nAuthorization: Bearer sk-secret\r\nConnection: Upgrade\r\n\
     Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;

fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let is_masked = if mask.is_some() { 0x80 } else { 0 };
    let mut bytes = vec![first];
    match u16::try_from(payload.len()) {
        Ok(short @ ..126) => bytes.push(u8::try_from(short).unwrap() | is_masked),
        Ok(length) => {
            bytes.push(0x7e | is_masked);
            bytes.extend(length.to_be_bytes());
        }
        Err(_) => {
            bytes.push(0x7f | is_masked);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend(mask.unwrap_or_default().iter().take(if mask.is_some() { 4 } else { 0 }));
    let mask = mask.unwrap_or_default();
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

fn create(model: &str) -> Vec<u8> {
    let text = format!("{{\"type\":\"response.create\",\"model\":\"{model}\",\"input\":\"Say hello.\"}}");
    frame(TEXT, Some([1, 2, 3, 250]), text.as_bytes())
}

fn close(code: u16) -> Vec<u8> {
    frame(CLOSE, None, &code.to_be_bytes())
}

fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        bytes.extend(byte);
    }
    String::from_utf8(bytes).unwrap()
}

fn upgraded(address: SocketAddr, path: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    stream.write_all(format!("GET {path}{UPGRADE}").as_bytes()).unwrap();
    let head = head(&mut stream);
    (stream, head)
}

/// Reads whole frames up to one with this text.
fn read_to(stream: &mut TcpStream, text: &str, all: &mut Vec<u8>) {
    let from = all.len();
    while !String::from_utf8_lossy(&all[from..]).contains(text) || !is_whole(&all[from..]) {
        let mut chunk = [0; 4096];
        let length = stream.read(&mut chunk).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(all));
        all.extend_from_slice(&chunk[..length]);
    }
}

fn is_whole(mut bytes: &[u8]) -> bool {
    while let [_, length, rest @ ..] = bytes {
        let (length, rest) = match (length, rest) {
            (126, [a, b, rest @ ..]) => (usize::from(u16::from_be_bytes([*a, *b])), rest),
            (..126, rest) => (usize::from(*length), rest),
            _ => return false,
        };
        let Some(next) = rest.get(length..) else { return false };
        bytes = next;
    }
    bytes.is_empty()
}

type Log = Arc<Mutex<[Vec<u8>; 2]>>;

/// Starts a relay in front of a server, and returns what both sides sent through it.
fn relay(to: SocketAddr) -> (SocketAddr, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, log) = (listener.local_addr().unwrap(), Log::default());
    let both = Arc::clone(&log);
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(to).unwrap();
        let pairs = [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
        for (side, (mut from, mut to)) in pairs.into_iter().enumerate() {
            let both = Arc::clone(&both);
            thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(length @ 1..) = from.read(&mut chunk) {
                    both.lock().unwrap()[side].extend_from_slice(&chunk[..length]);
                    to.write_all(&chunk[..length]).unwrap();
                }
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    });
    (address, log)
}

fn outcomes(judged: &Judged) -> Vec<Outcome> {
    judged.turns.iter().map(|turn| turn.outcome).collect()
}

fn rules(judged: &Judged) -> Vec<&str> {
    judged.report.findings.iter().map(|finding| &*finding.rule).collect()
}

#[test]
fn a_broken_turn_is_found_between_good_ones_and_every_byte_passes() {
    let gateway = Embedded::start(Settings::new(spec::dialect("openai").unwrap())).unwrap();
    let (address, log) = relay(gateway.address());
    let (mut tapped, judged) = Tapped::judging(address, true);
    let (mut client, head) = upgraded(tapped.address, PATH);
    assert!(
        head.starts_with("HTTP/1.1 101 ") && head.to_ascii_lowercase().contains("sec-websocket-accept"),
        "{head}"
    );
    let (mut sent, mut got) = (Vec::new(), Vec::new());
    for model in ["first", "fault:text/deltas-joined", "third"] {
        let request = create(model);
        let (start, rest) = request.split_at(5);
        for part in [start, rest] {
            client.write_all(part).unwrap();
            sent.extend_from_slice(part);
        }
        read_to(&mut client, "\"type\":\"response.completed\"", &mut got);
    }
    let goodbye = frame(CLOSE, Some([9; 4]), &1000_u16.to_be_bytes());
    client.write_all(&goodbye).unwrap();
    sent.extend(goodbye);
    client.read_to_end(&mut got).unwrap();
    drop(client);
    tapped.end();
    let [asked, answered] = log.lock().unwrap().clone();
    assert!(asked.ends_with(&sent) && answered.ends_with(&got), "{}", String::from_utf8_lossy(&answered));
    let judged = judged.lock().unwrap();
    let [session] = &**judged else { panic!("{judged:?}") };
    assert_eq!(outcomes(session), [Outcome::Complete; 3]);
    assert_eq!(rules(session), ["text/deltas-joined"]);
    let models: Vec<_> = session.turns.iter().map(|turn| turn.model.as_deref().unwrap()).collect();
    assert_eq!(models, ["first", "fault:text/deltas-joined", "third"]);
    assert!(session.turns.iter().all(|turn| turn.tokens.is_some() && turn.first.is_some()), "{session:?}");
    assert!(!session.recording.contains("sk-secret"), "{}", session.recording);
    // `check` judges the recording as the tap did.
    let sets = checker::RuleSets::new(std::collections::BTreeMap::new(), |_| true);
    let mut checking = recordings::Checking::recognising(&sets, false);
    let again = checking.check("again".to_owned(), &mut session.recording.as_bytes(), None);
    assert_eq!((again.streams, again.events), (session.report.streams, session.report.events));
    assert_eq!(again.findings.len(), 1);
    tapped.metrics.count("one", session);
    let line = "conformance_streams_total{api=\"responses\",upstream=\"one\",outcome=\"complete\"} 3";
    assert!(tapped.metrics.text().contains(line), "{}", tapped.metrics.text());
}

fn events() -> Vec<&'static str> {
    let text = std::str::from_utf8(golden("openai/text").unwrap().bytes).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

fn whole() -> Vec<u8> {
    events().iter().flat_map(|event| frame(TEXT, None, event.as_bytes())).collect()
}

fn half() -> Vec<u8> {
    events().iter().take(4).flat_map(|event| frame(TEXT, None, event.as_bytes())).collect()
}

/// Starts an upstream that reads a request of this size after the upgrade, and answers with these bytes. Returns what it
/// read.
fn upstream(headers: &str, size: usize, answer: Vec<u8>) -> (SocketAddr, thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, headers) = (listener.local_addr().unwrap(), headers.to_owned());
    let read = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        head(&mut stream);
        stream.write_all(format!("{headers}\r\n").as_bytes()).unwrap();
        let mut got = vec![0; size];
        stream.read_exact(&mut got).unwrap();
        stream.write_all(&answer).unwrap();
        got
    });
    (address, read)
}

fn ask(address: SocketAddr, path: &str, request: &[u8]) -> Vec<u8> {
    let (mut client, _) = upgraded(address, path);
    client.write_all(request).unwrap();
    let mut got = Vec::new();
    client.read_to_end(&mut got).unwrap();
    got
}

/// Sends a request through a tap to an upstream that answers with these bytes. Returns what was judged, and the number of
/// connections that were not.
fn answered(headers: &str, request: &[u8], answer: &[u8]) -> (Option<Judged>, u64) {
    answered_at(PATH, headers, request, answer)
}

fn answered_at(path: &str, headers: &str, request: &[u8], answer: &[u8]) -> (Option<Judged>, u64) {
    let (address, read) = upstream(headers, request.len(), answer.to_owned());
    let (mut tapped, judged) = Tapped::judging(address, true);
    let got = ask(tapped.address, path, request);
    assert!(got == answer && read.join().unwrap() == request, "bytes differ");
    tapped.end();
    let judged = judged.lock().unwrap().pop();
    (judged, tapped.metrics.dropped(Lost::Upgrade))
}

#[test]
fn the_end_of_each_turn_is_told_apart() {
    let refusal = "{\"type\":\"error\",\"status\":400,\"error\":{\"code\":\"previous_response_not_found\",\"message\":\"m\",\
                   \"type\":\"invalid_request_error\",\"param\":null}}";
    for (what, answer, wanted) in [
        ("whole", [whole(), close(1000)].concat(), Outcome::Complete),
        ("whole, then an abrupt end", whole(), Outcome::Complete),
        ("nothing", close(1000), Outcome::Truncated),
        ("half", [half(), close(1000)].concat(), Outcome::Truncated),
        ("an error of the server", [half(), close(1011)].concat(), Outcome::UpstreamGone),
        ("an abrupt end", half(), Outcome::UpstreamGone),
        ("an end within a frame", whole()[..whole().len() - 9].to_vec(), Outcome::UpstreamGone),
        ("a mask", [half(), frame(TEXT, Some([1; 4]), b"{}")].concat(), Outcome::Malformed),
        ("binary", [half(), frame(0x82, None, b"{}")].concat(), Outcome::Malformed),
        ("reserved bits", [half(), frame(TEXT | 0x40, None, b"{}")].concat(), Outcome::Malformed),
        ("an unknown kind", [half(), frame(0x83, None, b"{}")].concat(), Outcome::Malformed),
        ("no UTF-8", [half(), frame(TEXT, None, b"\xff")].concat(), Outcome::Malformed),
        ("a refusal", [frame(TEXT, None, refusal.as_bytes()), close(1000)].concat(), Outcome::ErrorTold),
    ] {
        let (judged, _) = answered(SWITCHED, &create("m"), &answer);
        assert_eq!(judged.as_ref().map(outcomes), Some(vec![wanted]), "{what}: {judged:?}");
    }
    let goodbye = [create("m"), frame(CLOSE, Some([0; 4]), b"")].concat();
    let (judged, _) = answered(SWITCHED, &goodbye, &half());
    assert_eq!(judged.as_ref().map(outcomes), Some(vec![Outcome::ClientGone]));
}

#[test]
fn pieces_pings_and_compression_change_nothing() {
    let mut plain = Vec::new();
    for event in events() {
        let (start, rest) = event.as_bytes().split_at(event.len() / 2);
        plain.extend(frame(1, None, start));
        plain.extend(frame(PING, None, b"still there?"));
        plain.extend(frame(0, None, b""));
        plain.extend(frame(0x80, None, rest));
    }
    let mut deflate = Compress::new(Compression::default(), false);
    let mut squeeze = |text: &str| {
        let mut bytes = Vec::with_capacity(2 * text.len() + 64);
        deflate.compress_vec(text.as_bytes(), &mut bytes, FlushCompress::Sync).unwrap();
        bytes.truncate(bytes.len() - 4);
        bytes
    };
    let compressed: Vec<u8> =
        events().iter().flat_map(|event| frame(TEXT | 0x40, None, &squeeze(event))).collect();
    let extension =
        format!("{SWITCHED}Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=15\r\n");
    for (headers, answer) in [(SWITCHED, plain), (&*extension, whole()), (&*extension, compressed)] {
        let (judged, _) = answered(headers, &create("m"), &[answer, close(1000)].concat());
        let judged = judged.unwrap();
        assert_eq!((outcomes(&judged), rules(&judged)), (vec![Outcome::Complete], Vec::new()));
        assert_eq!(judged.report.events, events().len() as u64);
    }
}

#[test]
fn other_protocols_and_extensions_pass_and_are_counted() {
    let other = SWITCHED.replace("websocket", "h2c");
    let extension = format!("{SWITCHED}Sec-WebSocket-Extensions: permessage-deflate, x-other\r\n");
    for headers in [other, extension] {
        let (judged, dropped) = answered(&headers, &create("m"), &whole());
        assert_eq!((judged.is_none(), dropped), (true, 1));
    }
    // The Realtime API shares names of events with Responses.
    let (judged, dropped) = answered_at("/v1/realtime?model=m", SWITCHED, &create("m"), &whole());
    assert_eq!((judged.is_none(), dropped), (true, 0));
    // Without a request, there is nothing to judge.
    let (judged, dropped) = answered(SWITCHED, b"", &close(1000));
    assert_eq!((judged.is_none(), dropped), (true, 0));
}

#[test]
fn a_connection_has_one_recording_and_one_line_of_the_index() {
    let folder = std::env::temp_dir().join(format!("tap-socket-{}", std::process::id()));
    let limits = Limits { keep: Keep::All, shape_only: true, ..Limits::default() };
    let evidence = Arc::new(Evidence::open(&folder, limits, &Metrics::default()).unwrap());
    let request = [create("m-1"), create("m-2")].concat();
    let (address, _) = upstream(SWITCHED, request.len(), [whole(), half(), close(1000)].concat());
    let mut tapped = Tapped::start(address, 1 << 20, move || {
        let rules = checker::RuleSets::new(std::collections::BTreeMap::new(), |_| true);
        let mut judge = Judge::new(recordings::Checking::recognising(&rules, false));
        let evidence = Arc::clone(&evidence);
        move |passed: Passed| evidence.add(&passed, &judge.judge(&passed).unwrap()).unwrap()
    });
    ask(tapped.address, PATH, &request);
    tapped.end();
    let index = fs::read_to_string(folder.join("index.ndjson")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&index).unwrap();
    assert_eq!(
        (&line["turns"], &line["outcome"], &line["status"]),
        (&2.into(), &"truncated".into(), &101.into())
    );
    assert_eq!(
        (&line["api"], &line["model"]),
        (&"responses".into(), &"m-2".into()),
        "the last request counts"
    );
    let recording = fs::read_to_string(folder.join(line["path"].as_str().unwrap())).unwrap();
    assert_eq!(recording.matches("\"sent\":").count(), 2, "{recording}");
    assert_eq!(recording.matches("\"received\":").count(), events().len() + 4, "{recording}");
    assert!(!recording.contains("Say hello") && !recording.contains("sk-secret"), "{recording}");
    fs::remove_dir_all(folder).unwrap();
}
