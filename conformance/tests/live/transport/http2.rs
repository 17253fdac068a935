//! HTTP/2, negotiated in the TLS handshake.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, Request, Response, Version};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::authority::file;
use super::secure::Secure;
use crate::program::{Outcome, conformance, expect, folder, path};
use crate::server::{golden, response};

/// A request as seen by the server.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
    path: String,
}

pub(super) type All = Arc<Mutex<Vec<Seen>>>;

/// Starts an HTTP/2 server that optionally breaks off its streams.
pub(super) fn server(breaks_off: bool) -> (Secure, All) {
    let seen = All::default();
    let all = Arc::clone(&seen);
    let serve = move |stream| speak(stream, Arc::clone(&all), breaks_off);
    (Secure::new(&["h2", "http/1.1"], serve), seen)
}

async fn speak(stream: TlsStream<TcpStream>, seen: All, breaks_off: bool) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, answer))) = connection.accept().await {
        tokio::spawn(respond(request, answer, Arc::clone(&seen), breaks_off));
    }
}

async fn respond(
    mut request: Request<RecvStream>,
    mut answer: SendResponse<bytes::Bytes>,
    seen: All,
    breaks_off: bool,
) {
    seen.lock().expect("nobody panicked").push(Seen {
        version: request.version(),
        path: request.uri().path().to_owned(),
        headers: request.headers().clone(),
    });
    let mut body = Vec::new();
    while let Some(Ok(piece)) = request.body_mut().data().await {
        body.extend_from_slice(&piece);
    }
    let wants_stream = String::from_utf8_lossy(&body).contains("\"stream\":true");
    let (content_type, body) = if wants_stream {
        ("text/event-stream", golden("openai/text").to_owned())
    } else {
        ("application/json", response())
    };
    let head = Response::builder().header("content-type", content_type).body(()).expect("a head");
    let Ok(mut sending) = answer.send_response(head, false) else { return };
    let pieces = body.split_inclusive("\n\n");
    let is_cut = breaks_off && wants_stream;
    for piece in pieces.take(if is_cut { 5 } else { usize::MAX }) {
        let _ = sending.send_data(piece.to_owned().into(), false);
    }
    if is_cut {
        // Sent data must arrive before the reset.
        tokio::time::sleep(Duration::from_millis(200)).await;
        sending.send_reset(h2::Reason::INTERNAL_ERROR);
    } else {
        let _ = sending.send_data(bytes::Bytes::new(), true);
    }
}

/// Starts a server that closes connections with GOAWAY, during the first stream or after it.
fn leaving(is_abrupt: bool) -> Secure {
    Secure::new(&["h2"], move |stream| async move {
        let Ok(mut connection) = h2::server::handshake(stream).await else { return };
        let Some(Ok((request, answer))) = connection.accept().await else { return };
        tokio::spawn(respond(request, answer, All::default(), is_abrupt));
        if is_abrupt {
            // Until then, pending data is sent.
            let _ = tokio::time::timeout(Duration::from_millis(100), connection.accept()).await;
            connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
        } else {
            connection.graceful_shutdown();
        }
        while let Some(Ok(_)) = connection.accept().await {}
    })
}

fn hello(server: &Secure, more: &[&str]) -> Outcome {
    let (url, authority) = (server.url(), file());
    let usual = [
        "--target",
        &url,
        "--ca-file",
        path(&authority),
        "--api-key",
        "key-12345678",
        "--model",
        "m",
        "text/hello",
    ];
    conformance(&[&usual, more].concat())
}

#[test]
fn streams_and_answers_come_by_http_2() {
    let ((server, seen), out) = (server(false), folder("http2"));
    let run = hello(&server, &["--out", path(&out)]);
    expect(&run, 0, &["test text/hello::answer", "test text/hello.json::answer", " 0 failed; 0 ignored"]);
    for request in seen.lock().expect("nobody panicked").iter() {
        assert_eq!((request.version, &*request.path), (Version::HTTP_2, "/v1/responses"));
        assert_eq!(request.headers["authorization"], "Bearer key-12345678");
    }
    assert_eq!(server.spoken(), ["h2", "h2"]);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 2 exchanges"]);
}

#[test]
fn a_stream_of_http_2_that_is_reset_was_not_read_to_its_end() {
    let (server, _) = server(true);
    let run = hello(&server, &[]);
    expect(&run, 1, &["text/hello::answer", "the response is incomplete: ", "internal error"]);
    // The other one is as it was.
    let is_passed = |line: &str| line.starts_with("test text/hello.json::answer ") && line.ends_with("ok");
    assert!(run.stdout.lines().any(is_passed), "{}", run.stdout);
}

#[test]
fn an_endpoint_that_goes_away_in_a_stream_broke_it_off() {
    let run = hello(&leaving(true), &["--attempts", "1"]);
    expect(&run, 1, &["text/hello::answer", "the response is incomplete: "]);
}

#[test]
fn an_endpoint_that_goes_away_after_its_streams_breaks_nothing() {
    let run = hello(&leaving(false), &[]);
    expect(&run, 0, &["test text/hello::answer", "test text/hello.json::answer", " 0 failed; 0 ignored"]);
}

/// The connection is encrypted, so the key is not visible to others.
#[test]
fn redirections_over_tls_are_not_followed_elsewhere() {
    let (other, seen) = server(false);
    for status in [301, 302, 303, 307, 308] {
        let location = other.url() + "/v1/responses";
        let moved = Secure::new(&["h2"], move |stream| {
            let location = location.clone();
            async move {
                let Ok(mut connection) = h2::server::handshake(stream).await else { return };
                while let Some(Ok((_, mut answer))) = connection.accept().await {
                    let head = Response::builder().status(status).header("location", &*location).body(());
                    let _ = answer.send_response(head.expect("a head"), true);
                }
            }
        });
        expect(&hello(&moved, &[]), 2, &["redirects to another host"]);
    }
    assert!(other.spoken().is_empty() && seen.lock().expect("nobody panicked").is_empty());
}

#[test]
fn who_speaks_no_http_2_is_spoken_to_by_http_1() {
    let server = super::before(&["http/1.1"]);
    expect(&hello(&server, &[]), 0, &["test text/hello::answer", " 0 failed; 0 ignored"]);
    assert_eq!(server.spoken(), ["http/1.1", "http/1.1"]);
}
