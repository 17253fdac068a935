//! Endpoints behind TLS, which may break off or be somebody else.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::program::{Outcome, command, expect, outcome};
use crate::server::{golden, response};

/// A certificate for 127.0.0.1 that nobody vouches for, and its key. They were made once, for this test.
const CERTIFICATE: &[u8] = include_bytes!("tls/cert.der");
const KEY: &[u8] = include_bytes!("tls/key.der");

fn config() -> Arc<ServerConfig> {
    let (certificate, key) = (CertificateDer::from(CERTIFICATE), PrivatePkcs8KeyDer::from(KEY));
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("they fit together");
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate], PrivateKeyDer::from(key));
    Arc::new(config.expect("the key is that of the certificate"))
}

/// A good endpoint behind TLS that closes the connections of these numbers in the handshake.
fn secure(closed: &'static [usize]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("https://{}", listener.local_addr().expect("it is bound"));
    let config = config();
    thread::spawn(move || {
        for (number, mut stream) in listener.incoming().map_while(Result::ok).enumerate() {
            if closed.contains(&number) {
                let _ = stream.read(&mut [0; 16_384]);
                continue;
            }
            let connection = ServerConnection::new(Arc::clone(&config)).expect("it can be made");
            serve(&mut StreamOwned::new(connection, stream));
        }
    });
    url
}

fn serve(stream: &mut StreamOwned<ServerConnection, TcpStream>) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    // The body is an object, and comes last.
    while !(request.ends_with(b"}") && request.windows(4).any(|window| window == b"\r\n\r\n")) {
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => request.extend_from_slice(&piece[..length]),
            _ => return,
        }
    }
    let wants_stream = String::from_utf8_lossy(&request).contains("\"stream\":true");
    let (content_type, body) = if wants_stream {
        ("text/event-stream", golden("openai/text").to_owned())
    } else {
        ("application/json", response())
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all((head + &body).as_bytes());
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

/// The short text, streamed and not, where the certificate is trusted or is not.
fn hello(url: &str, is_trusted: bool) -> Outcome {
    let mut command = command(&["--target", url, "text/hello"]);
    command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
    if is_trusted {
        command.env("SSL_CERT_FILE", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/tls/cert.pem"));
    }
    outcome(&mut command)
}

#[test]
fn a_certificate_that_is_trusted_is_taken() {
    expect(&hello(&secure(&[]), true), 0, &["test text/hello::answer", " 0 failed; 0 ignored"]);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let run = hello(&secure(&[]), false);
    expect(&run, 2, &["harness error: no connection: ", "invalid peer certificate: UnknownIssuer"]);
    assert!(!run.stdout.contains("answer       ... ok"), "{}", run.stdout);
}

#[test]
fn a_handshake_that_breaks_off_leaves_the_rest() {
    let run = hello(&secure(&[0]), true);
    expect(&run, 2, &["harness error: no connection: ", "tls handshake eof"]);
    let is_passed = |line: &str| line.starts_with("test text/hello.json::answer ") && line.ends_with("ok");
    assert!(run.stdout.lines().any(is_passed), "{}", run.stdout);
}
