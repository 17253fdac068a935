//! Transports between the suite and an endpoint: TLS, HTTP/2, proxies. All servers are on this machine, and all
//! certificates are generated for the run.

mod authority;
mod http2;
mod proxy;
mod secure;
mod tls;

use std::sync::{Arc, LazyLock};

use conformance::gateway::{Embedded, Settings};
use rustls::ServerConfig;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use authority::{config, file};
use secure::Secure;

use crate::program::{bare, conformance, expect, folder, outcome, path};

/// A good endpoint.
static GATEWAY: LazyLock<Embedded> =
    LazyLock::new(|| Embedded::start(Settings::new(&spec::openai::DIALECT)).expect("a port is free"));

/// Starts a TLS server in front of the gateway. It negotiates these protocols, but only supports HTTP/1.1.
fn before(protocols: &[&str]) -> Secure {
    in_front(config(protocols), &[])
}

/// Starts one with this configuration that closes the connections with these numbers during the handshake.
fn in_front(config: Arc<ServerConfig>, closed: &'static [usize]) -> Secure {
    let address = GATEWAY.address();
    Secure::with(config, closed, move |mut stream| async move {
        if let Ok(mut inner) = TcpStream::connect(address).await {
            let _ = copy_bidirectional(&mut stream, &mut inner).await;
        }
    })
}

#[test]
fn a_websocket_is_opened_over_tls() {
    // WebSockets need HTTP/1.1, even if HTTP/2 is offered.
    let server = before(&["h2", "http/1.1"]);
    let (url, authority, out) = (server.url(), file(), folder("wss"));
    let args = ["--target", &url, "--ca-file", path(&authority), "--model", "m", "--transport", "websocket"];
    let run = conformance(&[&args[..], &["text/hello", "--out", path(&out)]].concat());
    expect(&run, 0, &["test text/hello.ws::answer", "test text/hello.ws::ws", " 0 failed; 0 ignored"]);
    assert_eq!(server.spoken(), ["http/1.1"]);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 1 exchanges"]);
}

#[cfg(unix)]
#[test]
fn a_tap_opens_a_websocket_over_tls() {
    let server = before(&["h2", "http/1.1"]);
    let script =
        "\"$0\" --target \"$OPENAI_BASE_URL\" --api=responses --model m --transport websocket text/hello >&2";
    let program = env!("CARGO_BIN_EXE_conformance");
    let url = server.url();
    let tap = ["tap", "--listen", "127.0.0.1:0", "--upstream", &url, "--", "sh", "-c", script, program];
    let run = outcome(bare(&tap).env("SSL_CERT_FILE", file()));
    expect(&run, 0, &["passed: 1 file, 1 stream"]);
    assert!(run.stderr.contains("1 exchange judged"), "{}", run.stderr);
    assert!(!server.spoken().iter().any(|protocol| protocol == "h2"), "{:?}", server.spoken());
}

#[test]
fn a_base_is_that_of_the_host_of_the_version_or_of_responses() {
    let server = before(&["http/1.1"]);
    for base in ["", "/", "/v1", "/v1/", "/v1/responses"] {
        let (url, authority) = (server.url() + base, file());
        let args = ["--target", &url, "--ca-file", path(&authority), "text/hello::answer", "--exact"];
        let run = conformance(&args);
        expect(&run, 0, &["1 passed"]);
        assert!(run.stderr.contains("/v1/responses"), "{base}: {}", run.stderr);
    }
}
