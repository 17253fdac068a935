//! An endpoint that plays a script to the suite's client, regardless of the request.
//!
//! The first byte of a script selects the scenario. The others are sent unchanged, except NUL and the byte after it,
//! which form an [escape](escape), and [`ACCEPT`] and [`KEY`].

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use conformance::Suite;
use conformance::capture::{Entry, Format, read};
use conformance::compare;
use conformance::evidence::Evidence;
use conformance::goldens::GOLDENS;
use conformance::results::{Options, RunState, Transport, Verdict};
use conformance::wire::{Limits, Target};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::recordings::{gzip, zstd};
use super::within::within;

/// Placeholder for the response to the `Sec-WebSocket-Key` of the request.
pub const ACCEPT: &[u8] = b"{{accept}}";
/// Placeholder for the API key of the request.
pub const KEY: &[u8] = b"{{key}}";

const SECRET: &str = "sk-fuzz-9f8e7d6c5b4a3210";

/// Scenarios that differ in how the client goes about them.
const CASES: [&str; 8] = [
    "text/hello",
    "text/hello.json",
    "text/hello.ws",
    "call/single",
    "background/polled",
    "background/resumed",
    "state/recalled",
    "ws/in-order.ws",
];

const LIMITS: Limits = Limits {
    connect: Duration::from_millis(500),
    first_event: Duration::from_millis(60),
    idle: Duration::from_millis(40),
    total: Duration::from_millis(150),
    bytes: 1 << 16,
};

/// Runs a scenario against an endpoint that plays a script. Asserts that nothing panics or hangs, and the evidence is
/// consistent and does not contain the key.
pub fn client(bytes: &[u8]) {
    let Some((first, script)) = bytes.split_first() else { return };
    let case = CASES[usize::from(*first) % CASES.len()];
    let endpoint = Endpoint::start(script);
    let folder = Folder::new("client");
    let dialect = spec::dialect("openai").expect("it is built in");
    let target =
        Target::new(&format!("http://{}/v1", endpoint.address), dialect.api).expect("it is an address");
    let suite = Suite::new(target.direct().with_key(SECRET).expect("it is a key"), dialect)
        .options(Options { attempts: 2, ..Options::usual() })
        .limits(LIMITS)
        .transports(Transport::ALL)
        .seed("fuzz")
        .out(folder.0.join("run"));
    let told = within(|| suite.judge_only(&|name| name.split("::").next() == Some(case)));
    let told = told.expect("the endpoint can be asked");
    assert!(!told.is_empty(), "there is no case {case}");
    for told in told.iter().filter(|told| told.judged.verdict == Verdict::HarnessError) {
        assert!(!told.judged.reason.contains("please report it"), "{}: {}", told.name, told.judged);
    }
    let evidence = Evidence::open(&folder.0.join("run"));
    let run = evidence.run().expect("it was written");
    assert_eq!(run.state, RunState::Finished);
    let compared = within(|| compare(&evidence, &run, None)).expect("it can be read");
    assert_eq!(compared.differences, Vec::<String>::new());
    search(&folder.0);
}

/// Panics if the key is in a file.
fn search(folder: &Path) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            search(&path);
        } else {
            let bytes = fs::read(&path).expect("it can be read");
            let is_told = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!is_told, "{} has the key: {}", path.display(), String::from_utf8_lossy(&bytes));
        }
    }
}

/// A temporary folder, removed when dropped.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("responses-fuzz-{}-{name}-{count}", process::id()));
        fs::create_dir_all(&folder).expect("it can be made");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The action of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Nul,
    Pause(Duration),
    /// Wait until the client leaves.
    Stall,
    /// Close the connection; the next one receives the rest.
    Close,
}

/// NUL and this byte stand for the action.
fn escape(byte: u8) -> Step {
    match byte {
        0 => Step::Nul,
        1..=200 => Step::Pause(Duration::from_micros(u64::from(byte) * 100)),
        201..=230 => Step::Pause(Duration::from_millis(u64::from(byte - 170))),
        231..=240 => Step::Stall,
        241..=255 => Step::Close,
    }
}

struct Endpoint {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Endpoint {
    fn start(script: &[u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let parts = parts(script);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let part = parts[number % parts.len()].clone();
                thread::spawn(move || play(stream, &part));
            }
        });
        Self { address, is_over }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Connections are closed between the parts.
fn parts(script: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    let mut rest = script;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let last = parts.len() - 1;
        parts[last].push(*byte);
        if let (0, Some((escaped, after))) = (byte, rest.split_first()) {
            rest = after;
            if escape(*escaped) == Step::Close {
                parts[last].pop();
                parts.push(Vec::new());
            } else {
                parts[last].push(*escaped);
            }
        }
    }
    parts
}

/// The client may leave at any time.
fn play(mut stream: TcpStream, part: &[u8]) {
    let patience = Some(Duration::from_secs(1));
    let _ = (stream.set_nodelay(true), stream.set_read_timeout(patience), stream.set_write_timeout(patience));
    let Ok(asked) = stream.try_clone() else { return };
    let mut asked = BufReader::new(asked);
    let (mut accept, mut length, mut line) = (String::new(), 0, String::new());
    while asked.read_line(&mut line).is_ok_and(|length| length > 2) {
        if let Some((name, value)) = line.split_once(": ") {
            match &*name.to_lowercase() {
                "sec-websocket-key" => accept = derive_accept_key(value.trim().as_bytes()),
                "content-length" => length = value.trim().parse().unwrap_or_default(),
                _ => {}
            }
        }
        line.clear();
    }
    let _ = asked.by_ref().take(length).read_to_end(&mut Vec::new());
    let answer = replaced(part, ACCEPT, accept.as_bytes());
    let answer = replaced(&answer, KEY, SECRET.as_bytes());
    let mut rest = &answer[..];
    while !rest.is_empty() {
        let plain = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        let (text, after) = rest.split_at(plain);
        if stream.write_all(text).is_err() {
            return;
        }
        rest = after.get(2..).unwrap_or_default();
        match after.get(1).map(|byte| escape(*byte)) {
            Some(Step::Nul) => drop(stream.write_all(&[0])),
            Some(Step::Pause(pause)) => thread::sleep(pause),
            Some(Step::Stall) => drop(asked.read_to_end(&mut Vec::new())),
            Some(Step::Close) | None => {}
        }
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(from) {
            out.extend_from_slice(to);
            rest = after;
        } else {
            out.push(*byte);
            rest = after;
        }
    }
    out
}

/// Scripts that endpoints could follow, good and bad.
pub fn scripts() -> Vec<Vec<u8>> {
    let of = |format: Format| {
        let all = GOLDENS.iter().filter(move |golden| golden.dialect == "openai" && golden.format == format);
        all.map(|golden| golden.bytes)
    };
    let mut answers = Vec::new();
    for stream in of(Format::Sse) {
        answers.push(answer("200 OK", "content-type: text/event-stream\r\n", stream));
        let chunks = stream.chunks(200).flat_map(|chunk| {
            [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n", b"\0\x10"].concat()
        });
        let chunks: Vec<u8> = chunks.chain(*b"0\r\n\r\n").collect();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        answers.push([head.as_bytes(), &chunks].concat());
        for (name, coded) in [("gzip", gzip(stream)), ("zstd", zstd(stream))] {
            let headers = format!("content-type: text/event-stream\r\ncontent-encoding: {name}\r\n");
            answers.push(answer("200 OK", &headers, &escaped(&coded)));
        }
    }
    for log in of(Format::WebSocket) {
        answers.push(frames(log));
    }
    let error = br#"{"error":{"message":"no {{key}}","type":"too_many_requests","code":null,"param":null}}"#;
    let good = answers[0].clone();
    let json = "content-type: application/json\r\n";
    let busy = answer("429 Busy", &format!("{json}retry-after-ms: 1\r\n"), error);
    answers.push([&busy[..], b"\0\xff", &good].concat());
    answers.push(answer("307 Elsewhere", "location: /v1/responses/{{key}}\r\n", b""));
    answers.push(answer("401 Who?", &format!("{json}x-{{{{key}}}}: {{{{key}}}}\r\n"), error));
    answers.push(answer(
        "200 OK",
        json,
        &[&b"{\"id\":\"resp_1\",\"object\":\"response\""[..], error].concat(),
    ));
    answers.push(answer("200 OK", "content-type: text/event-stream\r\n", b"data: {{key}}\n\n\0\xe8"));
    answers
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn escaped(bytes: &[u8]) -> Vec<u8> {
    let one = |byte: &u8| if *byte == 0 { vec![0, 0] } else { vec![*byte] };
    bytes.iter().flat_map(one).collect()
}

/// Only messages of the endpoint count.
fn frames(log: &[u8]) -> Vec<u8> {
    let mut sent = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                     sec-websocket-accept: {{accept}}\r\n\r\n"
        .to_vec();
    let read = read(log, Some(Format::WebSocket), &mut |entry| {
        if let Entry::Event(frame) = entry {
            let text = frame.data.unwrap_or_default();
            sent.extend(frame_head(text.len()));
            sent.extend(escaped(text.as_bytes()));
        }
    });
    read.expect("it is a log of messages");
    // A close with code 1000.
    sent.extend([0x88, 2, 3, 0xe8]);
    sent
}

fn frame_head(length: usize) -> Vec<u8> {
    match u16::try_from(length) {
        Ok(length @ 0..126) => vec![0x81, length.to_le_bytes()[0]],
        Ok(length) => [&[0x81, 126][..], &escaped(&length.to_be_bytes())].concat(),
        Err(_) => [&[0x81, 127][..], &escaped(&(length as u64).to_be_bytes())].concat(),
    }
}
