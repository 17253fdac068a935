//! How a response ended is said.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use checker::Rules;
use recordings::Checking;
use recordings::goldens::{GOLDENS, golden};
use tap::{Judged, Outcome, Watched};

use crate::scene::{Tapped, ask, post, response, response_of_length, upstream};

fn outcome(address: SocketAddr, path: &str) -> Option<Outcome> {
    let of = |are_on| outcome_with(address, path, are_on);
    let outcome = of(true);
    assert_eq!(outcome, of(false), "{path}: rules decide");
    outcome
}

fn outcome_with(address: SocketAddr, path: &str, are_on: bool) -> Option<Outcome> {
    let (mut tapped, judged) = Tapped::judging(address, are_on);
    ask(tapped.address, &post(path, "{\"model\":\"m\",\"stream\":true}"));
    tapped.end();
    let judged = judged.lock().unwrap();
    judged.first().map(Judged::outcome)
}

fn stream(name: &str) -> Vec<u8> {
    golden(name).unwrap().bytes.to_vec()
}

const STREAM: &str = "text/event-stream";

#[test]
fn ends_are_told_apart() {
    for (path, name) in [
        ("/v1/responses", "openai/text"),
        ("/v1/messages", "anthropic/text"),
        ("/v1/chat/completions", "chat/text"),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "gemini/text"),
        ("/v1beta/interactions", "interactions/text"),
    ] {
        let whole = stream(name);
        let text = String::from_utf8(whole.clone()).unwrap();
        let half = &whole[..text.match_indices("\n\n").next().unwrap().0 + 2];
        // The last event with an object says how it ended.
        let cut = &whole[..text.rfind(":{").unwrap() + 2];
        let garbled = text.replacen("data: {", "data: {{", 4);
        let error = b"{\"error\":{\"message\":\"m\",\"type\":\"server_error\",\"code\":null,\"param\":null}}";
        for (what, answer, wanted) in [
            ("whole", response("200 OK", STREAM, &whole), Outcome::Complete),
            ("half", response("200 OK", STREAM, half), Outcome::Truncated),
            ("cut", response("200 OK", STREAM, cut), Outcome::Truncated),
            ("broken", response_of_length(STREAM, whole.len(), half), Outcome::UpstreamGone),
            ("garbled", response("200 OK", STREAM, garbled.as_bytes()), Outcome::Malformed),
            ("error", response("500 Oh", "application/json", error), Outcome::ErrorTold),
        ] {
            let (address, _) = upstream(answer);
            assert_eq!(outcome(address, path), Some(wanted), "{name}, {what}");
        }
    }
}

#[test]
fn no_good_recording_is_cut() {
    for golden in GOLDENS {
        let Some(dialect) = spec::dialect(golden.dialect) else { continue };
        // The end does not depend on rules.
        let [outcome, without_rules] = [true, false].map(|are_on| {
            let (rules, mut seen) = (Rules::of(dialect).only(|_| are_on), Watched::default());
            let report = Checking::new(&rules, false).check_bytes(String::new(), golden.bytes, &mut seen);
            let told = seen.told(dialect.api, &report, golden.bytes);
            Outcome::of(None, &told, &report)
        });
        assert_eq!(outcome, without_rules, "{}/{}", golden.dialect, golden.name);
        let is_cut = matches!(outcome, Outcome::Truncated | Outcome::Malformed | Outcome::UpstreamGone);
        assert!(!is_cut, "{}/{}: {outcome:?}", golden.dialect, golden.name);
        let ends = [
            ("incomplete", Outcome::Incomplete),
            ("length", Outcome::Incomplete),
            ("blocked", Outcome::Incomplete),
            ("text", Outcome::Complete),
        ];
        for (_, wanted) in ends.iter().filter(|(name, _)| golden.name == *name) {
            assert_eq!(outcome, *wanted, "{}/{}", golden.dialect, golden.name);
        }
    }
}

#[test]
fn an_upstream_that_does_not_answer_is_gone() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(outcome(closed, "/v1/messages"), Some(Outcome::UpstreamGone));
}

#[test]
fn a_client_that_leaves_is_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (mut tapped, judged) = Tapped::judging(address, true);
    let mut client = TcpStream::connect(tapped.address).unwrap();
    client.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    let (mut upstream, _) = listener.accept().unwrap();
    let whole = stream("chat/text");
    assert!(upstream.read(&mut [0; 4096]).unwrap() > 0);
    upstream.write_all(&response("200 OK", STREAM, &whole[..200])).unwrap();
    assert!(client.read(&mut [0; 64]).unwrap() > 0);
    drop(client);
    // The upstream sees that the client has left.
    while upstream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
    tapped.end();
    assert_eq!(judged.lock().unwrap().first().map(Judged::outcome), Some(Outcome::ClientGone));
}

#[test]
fn what_is_of_no_api_is_not_judged() {
    let (address, _) = upstream(response("200 OK", "text/html", b"<html></html>"));
    assert_eq!(outcome(address, "/index.html"), None);
}
