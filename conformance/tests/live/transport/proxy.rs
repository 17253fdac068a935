//! Proxies of the environment.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use http::Version;

use super::authority::file;
use super::{before, http2};
use crate::program::{Outcome, command, expect, files, folder, outcome, path};
use crate::server::{Server, answer, text};

const USER: &str = "user-4711:password-0815";
/// The credentials as sent to the proxy.
const BASIC: &str = "dXNlci00NzExOnBhc3N3b3JkLTA4MTU=";

/// A proxy that connects every request to one local port, or refuses it.
struct Tunnel {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Tunnel {
    fn to(port: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let own = listener.local_addr().expect("it is bound").port();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let head = head(&stream);
                seen.lock().expect("nobody panicked").push(head);
                thread::spawn(move || connect(stream, port));
            }
        });
        Self { port: own, heads }
    }

    fn url(&self) -> String {
        format!("http://{USER}@127.0.0.1:{}", self.port)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("nobody panicked").clone()
    }
}

/// Reads the head of a request, up to the blank line. The client sends nothing else before the response.
fn head(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n").to_lowercase()
}

fn connect(mut stream: TcpStream, port: Option<u16>) {
    let Some(port) = port else {
        let _ =
            stream.write_all(b"HTTP/1.1 407 Who?\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n");
        return;
    };
    let mut inner = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").expect("it is heard");
    let (mut up, mut down) = (inner.try_clone().expect("a copy"), stream.try_clone().expect("a copy"));
    thread::spawn(move || {
        let _ = io::copy(&mut down, &mut up);
        let _ = up.shutdown(std::net::Shutdown::Write);
    });
    let _ = io::copy(&mut inner, &mut stream);
    let _ = stream.shutdown(std::net::Shutdown::Write);
}

/// Runs the scenario of a short text with these environment variables.
fn hello(target: &str, environment: &[(&str, &str)], more: &[&str]) -> Outcome {
    let mut command = command(&[&["--target", target, "--model", "m", "text/hello"], more].concat());
    outcome(command.envs(environment.iter().copied()).arg("--ca-file").arg(file()))
}

/// Asserts that no output or file of a run contains the credentials of the proxy.
fn is_hidden(run: &Outcome, out: &Path) {
    let kept = files(out).into_iter().map(|file| fs::read(file).expect("it can be read"));
    for said in kept.chain([run.stdout.clone().into_bytes(), run.stderr.clone().into_bytes()]) {
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains("password-0815") && !said.contains(BASIC), "{said}");
    }
}

#[test]
fn an_http_proxy_is_sent_what_is_for_the_endpoint() {
    let (proxy, out) = (Server::new(text), folder("proxy"));
    let url = proxy.url.replace("//", &format!("//{USER}@"));
    // Only the proxy can resolve this host.
    let run = hello("http://gateway.invalid/v1", &[("HTTP_PROXY", &url)], &["--out", path(&out)]);
    expect(&run, 0, &["test text/hello::answer", " 0 failed; 0 ignored"]);
    let told = format!("to http://gateway.invalid/v1/responses through the proxy {}", proxy.url);
    assert!(run.stderr.contains(&told), "{}", run.stderr);
    let kept = fs::read_to_string(out.join("run.json")).expect("it is there");
    assert!(kept.contains(&format!("\"proxy\": \"{}\"", proxy.url)), "{kept}");
    is_hidden(&run, &out);
    for request in proxy.requests() {
        assert_eq!(request.path, "http://gateway.invalid/v1/responses");
        assert!(
            request.headers.contains(&format!("proxy-authorization: Basic {BASIC}")),
            "{}",
            request.headers
        );
    }
}

#[test]
fn a_tunnel_leads_to_an_endpoint_behind_tls() {
    let ((server, seen), out) = (http2::server(false), folder("tunnel"));
    let proxy = Tunnel::to(Some(server.port));
    let target = format!("https://gateway.invalid:{}/v1", server.port);
    let run = hello(&target, &[("HTTPS_PROXY", &proxy.url())], &["--out", path(&out)]);
    expect(&run, 0, &["test text/hello.json::answer", " 0 failed; 0 ignored"]);
    let told = format!("through the proxy http://127.0.0.1:{}", proxy.port);
    assert!(run.stderr.contains(&told), "{}", run.stderr);
    is_hidden(&run, &out);
    let heads = proxy.heads();
    assert_eq!(heads.len(), 2);
    for head in heads {
        assert!(head.starts_with(&format!("connect gateway.invalid:{} ", server.port)), "{head}");
        assert!(head.contains(&format!("proxy-authorization: basic {}", BASIC.to_lowercase())), "{head}");
    }
    // Headers for the proxy are not sent to the endpoint.
    for request in seen.lock().expect("nobody panicked").iter() {
        assert_eq!(request.version, Version::HTTP_2);
        assert!(!request.headers.contains_key("proxy-authorization"), "{request:?}");
    }
}

#[test]
fn a_websocket_is_opened_through_a_tunnel() {
    let server = before(&["h2", "http/1.1"]);
    let proxy = Tunnel::to(Some(server.port));
    let target = format!("https://gateway.invalid:{}/v1", server.port);
    let run = hello(&target, &[("ALL_PROXY", &proxy.url())], &["--transport", "websocket"]);
    expect(&run, 0, &["test text/hello.ws::answer", " 0 failed; 0 ignored"]);
    assert_eq!((proxy.heads().len(), server.spoken()), (1, vec!["http/1.1".to_owned()]));
}

#[test]
fn what_needs_no_proxy_gets_none() {
    let (proxy, server) = (Server::new(text), Server::new(text));
    let except = [("HTTP_PROXY", &*proxy.url), ("NO_PROXY", "gateway.invalid,127.0.0.0/8")];
    let run = hello(&server.url, &except, &[]);
    expect(&run, 0, &[" 0 failed; 0 ignored"]);
    assert!(!run.stderr.contains("proxy") && server.connections() == 2, "{}", run.stderr);
    // The reference gateway is in this very process.
    let run = outcome(command(&["text/hello::answer"]).env("ALL_PROXY", &proxy.url));
    assert!(run.code == Some(0) && !run.stderr.contains("proxy"), "{}", run.stderr);
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn who_does_not_get_through_a_proxy_hears_of_it() {
    let told = |run: &Outcome, proxy: &str, words: &[&str]| {
        expect(run, 2, &["harness error: no connection to ", &format!("through the proxy {proxy}: ")]);
        expect(run, 2, words);
        assert!(!run.stdout.contains("password-0815"), "{}", run.stdout);
    };
    let proxy = Tunnel::to(None);
    let run = hello("https://gateway.invalid/v1", &[("HTTPS_PROXY", &proxy.url())], &[]);
    told(&run, &format!("http://127.0.0.1:{}", proxy.port), &["proxy authorization required"]);
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let run = hello("http://gateway.invalid/v1", &[("HTTP_PROXY", &format!("http://{USER}@{free}"))], &[]);
    told(&run, &format!("http://{free}"), &["refused"]);
    let run =
        hello("http://gateway.invalid/v1", &[("ALL_PROXY", "socks5://user:password-0815@127.0.0.1:1")], &[]);
    let known = "socks5://127.0.0.1:1 is not an HTTP proxy";
    assert!(run.code == Some(2) && run.stderr.contains(known), "{}", run.stderr);
    assert!(!run.stderr.contains("password-0815"), "{}", run.stderr);
}

#[test]
fn what_a_proxy_repeats_of_its_user_is_hidden() {
    let out = folder("proxy-echo");
    let proxy = Server::new(|request, stream| {
        let body = format!("<p>{}</p>\n<p>{USER}</p>", request.headers);
        answer(stream, "407 Who?", "text/html", body);
    });
    let url = proxy.url.replace("//", &format!("//{USER}@"));
    let run = hello("http://gateway.invalid/v1", &[("http_proxy", &url)], &["--out", path(&out)]);
    expect(
        &run,
        2,
        &[
            "the endpoint responds with 407 Proxy Authentication Required: \"",
            "the proxy requires authentication",
        ],
    );
    is_hidden(&run, &out);
}
