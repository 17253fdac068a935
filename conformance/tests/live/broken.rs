//! Endpoints that break off, stall, send too much or other data, or refuse access.

use std::fs;
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{command, conformance, expect, folder, hello, path};
use crate::server::{Server, answer, golden, head, text, write};

#[test]
fn silence_ends_with_its_limit() {
    let wait = |stream: &mut TcpStream| {
        while write(stream, "") && stream.peek(&mut [0]).is_ok_and(|length| length > 0) {}
        thread::sleep(Duration::from_secs(20));
    };
    let first = || golden("openai/text").split_inclusive("\n\n").next().expect("there is one");
    let start = Instant::now();
    let mute = Server::new(move |_, stream| wait(stream));
    let run = hello(&mute, &["--first-event-timeout", "300ms"]);
    expect(&run, 2, &["no response within 300ms (--first-event-timeout)"]);
    let headers = Server::new(move |_, stream| {
        head(stream, "200 OK", "text/event-stream", "");
        wait(stream);
    });
    let run = hello(&headers, &["--first-event-timeout", "300ms"]);
    expect(&run, 1, &["no event ended within 300ms (--first-event-timeout)"]);
    let stalled = Server::new(move |_, stream| {
        answer(stream, "200 OK", "text/event-stream", first());
        wait(stream);
    });
    expect(&hello(&stalled, &["--idle-timeout", "300ms"]), 1, &["no event ended for 300ms (--idle-timeout)"]);
    let total = hello(&stalled, &["--timeout", "300ms"]);
    expect(&total, 1, &["(--timeout)"]);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_trickle_is_no_event() {
    let server = Server::new(|_, stream| {
        head(stream, "200 OK", "text/event-stream", "");
        for byte in golden("openai/text").bytes() {
            if !write(stream, [byte]) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    });
    expect(&hello(&server, &["--first-event-timeout", "500ms"]), 1, &["no event ended within 500ms"]);
}

#[test]
fn an_endless_line_is_cut_off() {
    let server = Server::new(|_, stream| {
        head(stream, "200 OK", "text/event-stream", "");
        while write(stream, [b'x'; 4096]) {}
    });
    let run = hello(&server, &["--max-bytes", "1000000"]);
    expect(&run, 1, &["the response is longer than 1000000 bytes"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_gigabyte_is_cut_off_and_leaves_the_rest() {
    const SAID: u64 = 1 << 30;
    let sent = Arc::<AtomicU64>::default();
    let count = Arc::clone(&sent);
    let server = Server::new(move |request, stream| {
        if request.number > 0 {
            return text(request, stream);
        }
        head(stream, "200 OK", "text/event-stream", &format!("content-length: {SAID}\r\n"));
        let piece = ":".repeat(65_534) + "\n\n";
        while count.load(Ordering::SeqCst) < SAID && write(stream, &piece) {
            count.fetch_add(piece.len() as u64, Ordering::SeqCst);
        }
    });
    let out = folder("gigabyte");
    let args = ["--target", &server.url, "--max-bytes", "1000000", "text/hello", "--out", path(&out)];
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("it is a child").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
        peak = kilobytes.and_then(|it| it.parse().ok()).unwrap_or(peak);
        thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("the response is longer than 1000000 bytes"), "{stdout}");
    let is_passed = |line: &str| line.starts_with("test text/hello.json::answer ") && line.ends_with("ok");
    assert!(stdout.lines().any(is_passed), "{stdout}");
    let kept = fs::metadata(out.join("exchanges/text/hello.exchange")).expect("it is kept").len();
    assert!((1_000_000..2_000_000).contains(&kept), "{kept} bytes were kept");
    // Data beyond the limit remains in the buffers of the system.
    assert!(sent.load(Ordering::SeqCst) < 64 << 20, "{sent:?} bytes were taken");
    assert!((1..200_000).contains(&peak), "{peak} kB of memory");
}

/// Ten gigabytes, compressed to a few kilobytes.
#[test]
fn bombs_are_cut_off() {
    // The end of the Brotli stream is never sent. A block expands to 16 MiB of zeros, one of Zstandard to 128 KiB.
    const BROTLI_FIRST: &[u8] = b"\xcf\xff\xff\x7f\x00\x24\x00\xe2\xb1\x40\x72\xef\xff\x0d";
    const BROTLI_NEXT: &[u8] = b"\xfc\xff\xff\x07\x40\x02\x20\x0e\x0b\x40\xf7\xfe\xdf\x00";
    const ZSTD_HEAD: &[u8] = b"\x28\xb5\x2f\xfd\x00\x58";
    const ZSTD_BLOCK: &[u8] = b"\x02\x00\x10\n";
    let brotli = [BROTLI_FIRST, &BROTLI_NEXT.repeat(640)].concat();
    let zstd = [ZSTD_HEAD, &ZSTD_BLOCK.repeat(80_000)].concat();
    for (how, bomb) in [("br", brotli), ("zstd", zstd)] {
        let server = Server::new(move |_, stream| {
            head(stream, "200 OK", "text/event-stream", &format!("content-encoding: {how}\r\n"));
            write(stream, &bomb);
        });
        expect(
            &hello(&server, &["--max-bytes", "3000000"]),
            1,
            &["the response is longer than 3000000 bytes"],
        );
        expect(
            &hello(&server, &["--max-bytes", "100000000"]),
            1,
            &["it decompresses to more than 64 MiB and 200 times its size"],
        );
    }
}

#[test]
fn an_unknown_key_replaces_that_of_the_run() {
    let strict = Server::new(|_, stream| {
        let error = r#"{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#;
        answer(stream, "401 Unauthorized", "application/json", error);
    });
    let unknown = |server: &Server| {
        conformance(&["--target", &server.url, "--api-key", "key-12345678", "error/unknown-key::answer"])
    };
    expect(&unknown(&strict), 0, &["test error/unknown-key::answer      ... ok"]);
    let headers = strict.requests().remove(0).headers.to_lowercase();
    assert!(headers.contains("authorization: bearer no-such-key"), "{headers}");
    assert!(!headers.contains("key-12345678"), "{headers}");
    let open = Server::new(text);
    expect(&unknown(&open), 0, &["it accepts any key, even no-such-key: error/unknown-key"]);
    let confused = Server::new(|_, stream| answer(stream, "500 Oops", "application/json", "{}"));
    expect(&unknown(&confused), 1, &["error/unknown-key::answer"]);
}

#[test]
fn a_run_that_ends_does_not_blame_the_endpoint() {
    let slow = Server::new(|_, stream| {
        let body = golden("openai/text");
        answer(
            stream,
            "200 OK",
            "text/event-stream",
            body.split_inclusive("\n\n").next().unwrap_or_default(),
        );
        thread::sleep(Duration::from_secs(10));
    });
    let run = hello(&slow, &["--max-total-time", "500ms"]);
    expect(&run, 2, &["incomplete: 10 not exercised, 1 harness error", "interrupted: text/hello"]);
}
