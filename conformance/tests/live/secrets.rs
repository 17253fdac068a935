//! The key of an endpoint is redacted in all outputs, in whichever encoding the endpoint repeats it.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::program::{conformance, files, folder, path};
use crate::server::{Request, Server, golden, head, write};

const KEY: &str = "sk-MARK-9f8e7d6c/5b4a+3210";

/// Returns the key in all encodings that are redacted.
fn written() -> Vec<String> {
    let each = |write: &dyn Fn(char) -> String| KEY.chars().map(write).collect::<Vec<_>>().concat();
    let percent = each(&|character| format!("%{:02X}", u32::from(character)));
    let hex = each(&|character| format!("{:02x}", u32::from(character)));
    let mut ways = vec![KEY.to_owned(), KEY.to_lowercase(), percent, KEY.replace('/', "%2F"), hex];
    ways.push(each(&|character| format!("\\u{:04x}", u32::from(character))));
    ways.push(KEY.replace('/', "\\/"));
    for before in ["", "a", "ab"] {
        ways.push(BASE64_STANDARD.encode(format!("{before}{KEY}")));
        ways.push(BASE64_URL_SAFE_NO_PAD.encode(format!("{before}{KEY}")));
    }
    ways
}

/// Returns texts that no output may contain: the key, and recognizable parts of each of its encodings.
fn forbidden() -> Vec<String> {
    let cores = written().into_iter().map(|way| way.chars().skip(4).take(way.len() - 8).collect());
    cores.chain([KEY.to_owned()]).collect()
}

/// Returns a stream with the key in deltas of text and of arguments, split after one or more characters, in lines of
/// data, and in one piece.
fn stream() -> String {
    let mut stream = format!(": {}\n\n: {}\n: {}\n\n", written().join(" "), &KEY[..9], &KEY[9..]);
    let text = golden("openai/text");
    let first =
        text.split_inclusive("\n\n").find(|event| event.contains("output_text.delta")).expect("it has one");
    let data = first.lines().find_map(|line| line.strip_prefix("data: ")).expect("it has data");
    let mut event: serde_json::Value = serde_json::from_str(data).expect("it is JSON");
    let mut deltas = |kind: &str, size: usize, stream: &mut String| {
        let characters: Vec<char> = KEY.chars().collect();
        for part in characters.chunks(size) {
            event["type"] = kind.into();
            event["delta"] = part.iter().collect::<String>().into();
            let _ = write!(stream, "event: {kind}\ndata: {event}\n\n");
        }
    };
    for event in text.split_inclusive("\n\n") {
        stream += event;
        if event.contains("content_part.added") {
            deltas("response.output_text.delta", 1, &mut stream);
            deltas("response.output_text.delta", 10, &mut stream);
            deltas("response.function_call_arguments.delta", 5, &mut stream);
            let _ =
                write!(stream, "data: {{\"type\":\"x\",\"a\":\"{}\ndata: {}\"}}\n\n", &KEY[..8], &KEY[8..]);
        }
    }
    stream.replace("msg_", &format!("msg_{KEY}_"))
}

fn echo(request: &Request, stream: &mut std::net::TcpStream) {
    assert!(request.headers.contains(KEY), "{request:?}");
    let name = format!("x-{}: 1\r\n", KEY.to_lowercase().replace('/', "."));
    let location = format!(
        "{name}x-request-id: {KEY}\r\nlocation: http://h.test/{KEY}\r\nserver: {}\r\n",
        KEY.to_uppercase()
    );
    let body = self::stream();
    match request.number % 4 {
        // Compressed although the request does not allow it, and without a `Content-Encoding`.
        0 | 1 => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(body.as_bytes()).expect("it is memory");
            let coding = if request.number.is_multiple_of(4) { "content-encoding: gzip\r\n" } else { "" };
            head(stream, "200 OK", "text/event-stream", &(location + coding));
            write(stream, encoder.finish().expect("it is memory"));
        }
        2 => {
            head(stream, "200 OK", "text/event-stream", &location);
            for piece in body.as_bytes().chunks(7) {
                write(stream, piece);
                thread::sleep(Duration::from_micros(50));
            }
        }
        _ => {
            head(stream, "400 Bad Request", "application/json", &location);
            write(stream, serde_json::json!({"error": {"message": KEY, "code": written()}}).to_string());
        }
    }
}

/// Searches bytes, also after decompression.
fn search(name: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for way in forbidden() {
        assert!(!text.contains(&way), "{name} has {way}: {text}");
    }
    let parts = text.split("\\\"delta\\\":\\\"").skip(1).filter_map(|part| part.split("\\\"").next());
    let joined: String = parts.collect();
    assert!(!joined.contains(KEY), "{name}: deltas join to {joined}");
    for line in text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()) {
        let Some(bytes) = line["bytes"].as_str().and_then(|bytes| BASE64_STANDARD.decode(bytes).ok()) else {
            continue;
        };
        let mut plain = Vec::new();
        // Data that cannot be decompressed is not compressed.
        let _ = MultiGzDecoder::new(&*bytes).read_to_end(&mut plain);
        assert!(plain.is_empty(), "{name} has compressed bytes");
        search(name, &bytes);
    }
}

fn search_files(folder: &Path) {
    for file in files(folder) {
        search(&file.display().to_string(), &fs::read(&file).expect("it can be read"));
    }
}

#[test]
fn a_key_that_is_repeated_in_all_ways_at_once_is_nowhere() {
    let server = Server::new(echo);
    let out = folder("echo");
    let target = ["--target", &server.url, "--api-key", KEY];
    let run = conformance(&[&target[..], &["text/", "--out", path(&out)]].concat());
    search("standard output", run.stdout.as_bytes());
    search("standard error", run.stderr.as_bytes());
    search_files(&out);
    assert!(server.requests().len() > 8 && files(&out).len() > 12, "{}", run.stderr);
    for (command, formats) in [
        ("report", &["human", "json", "junit", "sarif", "github", "markdown", "html", "badge"][..]),
        ("check", &["human", "json", "junit", "sarif", "github", "markdown"]),
    ] {
        for format in formats {
            let told = conformance(&[command, path(&out), "--format", format]);
            assert!(!told.stdout.is_empty(), "{command} --format {format}: {}", told.stderr);
            search(&format!("{command} --format {format}"), (told.stdout + &told.stderr).as_bytes());
        }
    }
    let verified = conformance(&["verify", path(&out)]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
    for _ in 0..4 {
        let one = conformance(&[&["record"], &target[..], &["--scenario", "text/hello"]].concat());
        assert!(one.stdout.contains("\"exchange\":1"), "{}", one.stderr);
        search("record", (one.stdout + &one.stderr).as_bytes());
    }
}
