//! Runs over WebSocket connections, against conforming and broken endpoints.

use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{Outcome, conformance, expect, files, folder, path};
use crate::server::{Server, answer, golden, text, write};

/// Returns the events of a good stream.
fn messages() -> Vec<&'static str> {
    golden("openai/text").lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

/// Accepts the upgrade to a WebSocket.
fn accept(headers: &str, stream: &mut TcpStream) {
    let key = headers.lines().find_map(|line| line.strip_prefix("sec-websocket-key: ")).expect("it is there");
    let accept = tokio_tungstenite::tungstenite::handshake::derive_accept_key(key.trim().as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-accept: {accept}\r\n\r\n"
    );
    write(stream, head);
}

/// Reads a message of the client.
fn hear(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("a message comes");
    let mut length = usize::from(head[1] & 0x7f);
    if length == 126 {
        let mut more = [0; 2];
        stream.read_exact(&mut more).expect("its length comes");
        length = usize::from(u16::from_be_bytes(more));
    }
    let mut mask = [0; 4];
    stream.read_exact(&mut mask).expect("its mask comes");
    let mut text = vec![0; length];
    stream.read_exact(&mut text).expect("its text comes");
    text.iter_mut().zip(mask.into_iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    String::from_utf8_lossy(&text).into_owned()
}

fn frame(stream: &mut TcpStream, kind: u8, payload: &[u8]) -> bool {
    let length = match u8::try_from(payload.len()) {
        Ok(short) if short < 126 => vec![short],
        _ => [&[127][..], &(payload.len() as u64).to_be_bytes()].concat(),
    };
    write(stream, [&[0x80 | kind], &*length, payload].concat())
}

fn say(stream: &mut TcpStream, message: &str) -> bool {
    frame(stream, 1, message.as_bytes())
}

fn close(stream: &mut TcpStream, code: u16, reason: &str) {
    frame(stream, 8, &[&code.to_be_bytes(), reason.as_bytes()].concat());
}

/// Starts a server that accepts the upgrade, reads a message, and then runs this function.
fn socket(then: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Server {
    Server::new(move |request, stream| {
        if request.headers.contains("sec-websocket-key") {
            accept(&request.headers, stream);
            let message = hear(stream);
            then(&message, stream);
        } else {
            text(request, stream);
        }
    })
}

fn run(server: &Server, more: &[&str]) -> Outcome {
    conformance(&[&["--target", &server.url, "--transport", "websocket", "text/hello.ws::"], more].concat())
}

#[test]
fn a_good_endpoint_passes_and_is_verified() {
    let server = socket(|message, stream| {
        assert!(message.starts_with("{\"type\":\"response.create\"") && !message.contains("\"stream\""));
        frame(stream, 9, b"still there?");
        assert!(messages().into_iter().all(|message| say(stream, message)));
        let goodbye = hear(stream);
        assert!(goodbye.contains("still there?") || goodbye.as_bytes().starts_with(&1000_u16.to_be_bytes()));
    });
    let out = folder("websocket");
    expect(&run(&server, &["--out", path(&out)]), 0, &["test text/hello.ws::ws", " 0 failed; 0 ignored"]);
    let recording = fs::read_to_string(out.join("exchanges/text/hello.ws.exchange")).expect("it is kept");
    assert!(recording.contains("\"method\":\"GET\"") && recording.contains("\"status\":101"), "{recording}");
    assert!(recording.contains("\"sent\":") && recording.contains("\"end\":\"closed\""), "{recording}");
    assert!(!recording.contains("dGhl") && recording.contains("sec-websocket-key"), "{recording}");
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 1 exchanges"]);
    expect(&conformance(&["check", path(&out.join("exchanges"))]), 0, &["passed: 1 file"]);
}

#[test]
fn every_code_of_a_close_is_told() {
    for (code, words) in [
        (1000, "closed the WebSocket with code 1000 (normal): \\\"so long\\\""),
        (1001, "with code 1001 (going away)"),
        (1008, "with code 1008 (policy violation)"),
        (1011, "with code 1011 (internal error)"),
        (1013, "with code 1013 (try again later)"),
    ] {
        let server = socket(move |_, stream| {
            for message in messages().into_iter().take(3) {
                say(stream, message);
            }
            close(stream, code, "so long");
        });
        let words = words.replace('\\', "");
        expect(&run(&server, &[]), 1, &["the response is incomplete: the endpoint", &words]);
    }
    let abrupt = socket(|_, stream| {
        say(stream, messages()[0]);
    });
    expect(&run(&abrupt, &[]), 1, &["the connection broke without a WebSocket close frame"]);
    let mute = socket(|_, stream| close(stream, 1008, ""));
    expect(&run(&mute, &[]), 1, &["with code 1008 (policy violation)"]);
}

#[test]
fn every_limit_holds() {
    let start = Instant::now();
    let mute = socket(|_, _| thread::sleep(Duration::from_mins(2)));
    expect(&run(&mute, &["--first-event-timeout", "300ms"]), 1, &["no message within 300ms"]);
    let stalled = socket(|_, stream| {
        say(stream, messages()[0]);
        thread::sleep(Duration::from_mins(2));
    });
    expect(&run(&stalled, &["--idle-timeout", "300ms"]), 1, &["no message for 300ms"]);
    expect(&run(&stalled, &["--timeout", "300ms"]), 1, &["(--timeout)"]);
    let long = socket(|_, stream| while say(stream, &format!("{{\"a\":{:?}}}", "x".repeat(100_000))) {});
    expect(&run(&long, &["--max-bytes", "1000000"]), 1, &["the response is longer than 1000000 bytes"]);
    let huge = socket(|_, stream| {
        write(stream, [&[0x81, 127][..], &(1_u64 << 40).to_be_bytes(), b"{"].concat());
        thread::sleep(Duration::from_mins(2));
    });
    expect(&run(&huge, &[]), 1, &["the response is longer than 67108864 bytes"]);
    assert!(start.elapsed() < Duration::from_secs(90), "{:?}", start.elapsed());
}

/// A framing error ends the response with its reason, without a partial message.
#[test]
fn frames_that_break_the_protocol_end_the_answer() {
    const PLAIN: &str = "x";
    let masked = [&[0x81, 0x81, 1, 2, 3, 4][..], &[b'x' ^ 1]].concat();
    for (name, bytes) in [
        ("masked", masked),
        ("reserved bits", [&[0xf1, 1][..], PLAIN.as_bytes()].concat()),
        ("a reserved kind", [&[0x83, 1][..], PLAIN.as_bytes()].concat()),
        ("a continuation of nothing", [&[0x80, 1][..], PLAIN.as_bytes()].concat()),
        ("a text within a text", [&[0x01, 1][..], PLAIN.as_bytes(), &[0x81, 1], PLAIN.as_bytes()].concat()),
        ("a ping in parts", vec![0x09, 0]),
        ("a long ping", [&[0x89, 126, 0, 200][..], &[0; 200]].concat()),
        ("no UTF-8", vec![0x81, 2, 0xc3, 0x28]),
        ("a close of one byte", vec![0x88, 1, 3]),
        ("binary", vec![0x82, 1, 0]),
    ] {
        let server = socket(move |_, stream| {
            say(stream, messages()[0]);
            write(stream, &bytes);
            thread::sleep(Duration::from_secs(1));
        });
        let run = run(&server, &[]);
        assert_eq!(run.code, Some(1), "{name}: {}", run.stdout);
        let is_told = run.stdout.contains("the response is incomplete: ");
        assert!(is_told && !run.stdout.contains("panicked"), "{name}: {}", run.stdout);
    }
}

#[test]
fn parts_without_an_end_and_pings_are_bounded() {
    let parts = socket(|_, stream| {
        let part = [&[0x01, 126, 0x40, 0x00][..], &[b'x'; 0x4000]].concat();
        let more = [&[0x00, 126, 0x40, 0x00][..], &[b'x'; 0x4000]].concat();
        if write(stream, part) {
            while write(stream, &more) {}
        }
    });
    expect(&run(&parts, &["--max-bytes", "1000000"]), 1, &["the response is longer than 1000000 bytes"]);
    let pings = socket(|_, stream| {
        while frame(stream, 9, b"still there?") {
            thread::sleep(Duration::from_millis(20));
        }
    });
    expect(&run(&pings, &["--first-event-timeout", "500ms"]), 1, &["no message within 500ms"]);
}

#[test]
fn what_is_no_websocket_is_told() {
    let none = Server::new(|_, stream| answer(stream, "405 No", "application/json", "{}"));
    expect(&run(&none, &[]), 1, &["the WebSocket handshake got status 405; exclude the transport"]);
    let sse = Server::new(|_, stream| answer(stream, "200 OK", "text/event-stream", golden("openai/text")));
    expect(&run(&sse, &[]), 1, &["the WebSocket handshake got status 200"]);
    let closed = Server::new(|_, stream| answer(stream, "401 No", "application/json", "{}"));
    expect(&run(&closed, &[]), 2, &["harness error: the endpoint responds with 401"]);
    let wrong = Server::new(|_, stream| {
        write(stream, "HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    });
    expect(&run(&wrong, &[]), 1, &["Sec-WebSocket-Accept"]);
    let binary = socket(|_, stream| {
        frame(stream, 2, messages()[0].as_bytes());
    });
    expect(&run(&binary, &[]), 1, &["a message is binary, not text"]);
    let garbage = socket(|_, stream| {
        write(stream, [0xff; 64]);
    });
    expect(&run(&garbage, &[]), 1, &["the WebSocket cannot be read"]);
}

#[test]
fn turns_that_are_not_answered_as_expected_end_the_conversation() {
    let filter = "ws/in-memory.ws::answer";
    let server = socket(|_, stream| {
        say(
            stream,
            "{\"type\":\"error\",\"status\":503,\"error\":{\"code\":\"overloaded\",\"message\":\"no\"}}",
        );
        let _ = hear(stream);
    });
    let one = |server: &Server| {
        conformance(&["--target", &server.url, "--transport", "websocket", "--attempts", "1", filter])
    };
    expect(&one(&server), 0, &["ignored (turn 1 of 2 got an unexpected response)"]);
    let forgetful = socket(|_, stream| {
        for message in messages() {
            say(stream, message);
        }
        assert!(hear(stream).contains("\"previous_response_id\":\"resp_"));
        say(stream, "{\"type\":\"error\",\"status\":404,\"error\":{\"code\":\"x\",\"message\":\"no\"}}");
        let _ = hear(stream);
    });
    expect(&one(&forgetful), 1, &["the response has status 404, not 200"]);
}

#[test]
fn secrets_that_come_back_are_hidden() {
    let server = socket(|_, stream| {
        for message in messages() {
            say(stream, &message.replace("Hello", "sk-MARK-11111111"));
        }
        close(stream, 1008, "sk-MARK-11111111 is no key");
    });
    let out = folder("websocket-secrets");
    let run = run(&server, &["--api-key", "sk-MARK-11111111", "--out", path(&out)]);
    assert!(server.requests()[0].headers.contains("sk-MARK-11111111"));
    for file in files(&out) {
        let text = fs::read_to_string(&file).expect("it is UTF-8");
        assert!(!text.contains("11111111"), "{} has it: {text}", file.display());
    }
    assert!(!run.stdout.contains("11111111") && !run.stderr.contains("11111111"), "{}", run.stdout);
}

/// Frames that never pause hide no timeout, and fill no disk.
#[test]
fn floods_end() {
    let flood = |kind: u8, payload: &'static [u8]| {
        socket(move |_, stream| {
            let frame = [&[0x80 | kind, u8::try_from(payload.len()).expect("it is short")], payload].concat();
            let many = frame.repeat(1000);
            while write(stream, &many) {}
        })
    };
    for (name, server) in [("pings", flood(9, b"")), ("pongs", flood(10, b"")), ("texts", flood(1, b""))] {
        let start = Instant::now();
        let out = folder(&format!("flood-{name}"));
        let limits =
            ["--timeout", "2s", "--idle-timeout", "1s", "--first-event-timeout", "1s", "--attempts", "1"];
        let run = run(&server, &[&limits[..], &["--out", path(&out)]].concat());
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
        let size: u64 = files(&out).iter().map(|file| file.metadata().expect("it is there").len()).sum();
        assert!(size < 300 << 20, "{name}: {size} bytes");
    }
    let tiny = flood(1, b"{}");
    let limits = ["--max-bytes", "1000000", "--timeout", "60s", "--attempts", "1"];
    expect(&run(&tiny, &limits), 1, &["the response has more than 31250 frames, too many for 1000000 bytes"]);
}
