//! The reference translator between clients and upstreams of all APIs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checker::{Checker, Exchange, Frame, Request};
use gateway::{
    Act, Director, Embedded, EmbeddedVia, End, Received, Settings, Stage, ViaSettings, start_runtime,
};
use reqwest::Client;
use serde_json::{Value, json};
use spec::Dialect;
use translation::{Part, Question, Reply, Role, Stop, Turn};

fn dialects() -> [&'static Dialect; 3] {
    ["openai", "anthropic", "chat"].map(|name| spec::dialect(name).unwrap())
}

/// A response: its status, the value of `Retry-After`, and its body.
struct Got {
    status: u16,
    kind: String,
    retry_after: Option<String>,
    body: Vec<u8>,
}

/// Sends a request.
fn post(url: &str, dialect: &Dialect, request: &Value) -> Got {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = start_runtime(1).unwrap();
    runtime.block_on(async {
        let client = Client::builder().no_proxy().build().unwrap();
        let mut post = client.post(format!("{url}{}", dialect.api.path)).body(request.to_string());
        for (name, value) in dialect.api.request.with_key("client-key") {
            post = post.header(name, value);
        }
        let response = post.header("content-type", "application/json").send().await.unwrap();
        let text = |name| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (kind, retry_after) = (text("content-type").unwrap_or_default(), text("retry-after"));
        let status = response.status().as_u16();
        let body = response.bytes().await.map(|body| body.to_vec()).unwrap_or_default();
        Got { status, kind, retry_after, body }
    })
}

fn question(text: &str, is_stream: bool) -> Question {
    let turns = vec![Turn { role: Role::User, parts: vec![Part::Text(text.into())] }];
    Question { model: "m-1".into(), turns, is_stream, ..Question::default() }
}

fn request(front: &Dialect, text: &str, is_stream: bool) -> Value {
    question(text, is_stream).write(front.api)
}

/// The rules that no translator keeps whose upstream counts the input at its end, and does not sign its reasoning.
const NOT_CARRIED: [&str; 2] = ["usage/counts-input", "thinking/signed"];

/// Returns the rules that a response breaks.
fn broken(dialect: &'static Dialect, request: &Value, got: &Got) -> Vec<String> {
    let mut checker = Checker::new(dialect);
    let request = Request { body: Some(request.to_string().into()), ..Request::default() };
    checker.exchange(&Exchange { status: Some(got.status), request: Some(request), ..Exchange::default() });
    if got.kind.starts_with("text/event-stream") {
        checker.push(&got.body);
    } else {
        checker.body(&Frame { data: Some(String::from_utf8_lossy(&got.body)), ..Frame::default() });
    }
    checker.finish();
    let findings = checker.findings().iter().filter(|finding| !NOT_CARRIED.contains(&&*finding.rule));
    findings.map(|it| format!("{}: {}", it.rule, it.message)).collect()
}

fn read(dialect: &Dialect, got: &Got) -> Reply {
    Reply::read(dialect, Some(&got.kind), got.status, &got.body)
}

/// Returns the texts and the calls of a reply.
fn said(reply: &Reply) -> (String, Vec<[String; 3]>) {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in &reply.parts {
        match part {
            Part::Text(own) | Part::Refusal(own) => text += own,
            Part::Call(call) => {
                calls.push([call.id.clone(), call.name.clone(), call.arguments.replace(' ', "")]);
            }
            _ => {}
        }
    }
    (text, calls)
}

#[test]
fn all_pairs_answer_what_the_upstream_says() {
    let [openai, beside @ ..] = dialects();
    let upstream = Embedded::start(Settings { beside: beside.to_vec(), ..Settings::new(openai) }).unwrap();
    let tool =
        json!({"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}});
    for own in dialects() {
        let via = EmbeddedVia::start(ViaSettings::new(&upstream.url(), own)).unwrap();
        for front in dialects() {
            for (text, is_stream) in [
                ("[[say Hé|llo, \u{1F600}|world.]]", true),
                ("[[say Hello]]", false),
                ("[[refuse]]", true),
                ("[[call f {\"a\":|\"b\"}]]", true),
                ("[[call f {\"a\": 1}]]", false),
            ] {
                let mut asked = question(text, is_stream);
                asked.tools = vec![translation::Tool {
                    name: "f".into(),
                    parameters: tool["parameters"].clone(),
                    ..Default::default()
                }];
                let (request, direct) = (asked.write(front.api), asked.write(own.api));
                let (got, expected) =
                    (post(&via.url(), front, &request), post(&upstream.url(), own, &direct));
                let place = format!("{} for {}: {text}", own.name, front.name);
                let (reply, wanted) = (read(front, &got), read(own, &expected));
                assert!(
                    reply.is_ended && reply.error.is_none(),
                    "{place}: {}",
                    String::from_utf8_lossy(&got.body)
                );
                assert_eq!(got.kind.starts_with("text/event-stream"), is_stream, "{place}");
                let tag = |said: (String, Vec<[String; 3]>)| {
                    (said.0, said.1.into_iter().map(|[_, name, text]| [name, text]).collect::<Vec<_>>())
                };
                assert_eq!(tag(said(&reply)), tag(said(&wanted)), "{place}");
                assert_eq!(broken(front, &request, &got), [""; 0], "{place}");
            }
        }
    }
}

#[test]
fn a_stream_can_be_a_list() {
    let [chat, gemini] = ["chat", "gemini"].map(|name| spec::dialect(name).unwrap());
    let upstream = Embedded::start(Settings::new(chat)).unwrap();
    let via = EmbeddedVia::start(ViaSettings::new(&upstream.url(), chat)).unwrap();
    let root = via.url().replace("/v1", "/v1beta");
    let get = |text: &str, query: &str| {
        let path = format!("/models/m:streamGenerateContent{query}");
        let runtime = start_runtime(1).unwrap();
        runtime.block_on(async {
            let client = Client::builder().no_proxy().build().unwrap();
            let body = request(gemini, text, true).to_string();
            let response = client.post(root.clone() + &path).body(body).send().await.unwrap();
            let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
            (kind, response.text().await.unwrap())
        })
    };
    let said = "[[say Hé|llo|.]]";
    let (kind, list) = get(said, "");
    let (_, events) = get(said, "?alt=%73se");
    assert_eq!(kind, "application/json");
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
    let texts = |all: &[Value]| -> Vec<Value> {
        all.iter().map(|chunk| chunk["candidates"][0]["content"]["parts"][0]["text"].clone()).collect()
    };
    assert!(list.len() > 2);
    let (_, errors) = get("[[error 429]]", "");
    let errors: Vec<Value> = serde_json::from_str(&errors).unwrap();
    assert_eq!(errors[0]["error"]["code"], 429);
    assert_eq!(
        texts(&list),
        texts(&data.map(|data| serde_json::from_str(data).unwrap()).collect::<Vec<_>>())
    );
}

/// An upstream that plays one act, and keeps what it received.
struct Script {
    act: Act,
    received: Mutex<Vec<Received>>,
}

impl Director for Script {
    fn answer(&self, request: &Received) -> Act {
        self.received.lock().unwrap().push(request.clone());
        self.act.clone()
    }
}

fn script(act: Act) -> (Stage, Arc<Script>, String) {
    let script = Arc::new(Script { act, received: Mutex::default() });
    let stage = Stage::start(0, Arc::clone(&script) as Arc<dyn Director>).unwrap();
    let url = format!("http://{}/v1", stage.address());
    (stage, script, url)
}

fn chat_stream(pieces: &[&str], end: End) -> Act {
    let pieces = pieces.iter().map(|piece| (Duration::ZERO, piece.as_bytes().to_vec())).collect();
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    Act { status: 200, headers, pieces, end }
}

const HELLO: &str = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1785000000,\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n";

fn via(url: &str, fault: Option<&str>) -> EmbeddedVia {
    let chat = spec::dialect("chat").unwrap();
    let fault = fault.map(str::to_owned);
    let limit = Duration::from_millis(300);
    let key = Some("upstream-key".to_owned());
    EmbeddedVia::start(ViaSettings { fault, limit, key, ..ViaSettings::new(url, chat) }).unwrap()
}

#[test]
fn a_failure_of_the_upstream_is_an_error_of_the_client() {
    let [openai, anthropic, _] = dialects();
    for (pieces, end) in [
        (&[HELLO][..], End::Break),
        (&[HELLO], End::Whole),
        (&[HELLO], End::Stall),
        (&[HELLO, "data: {oh\n\n"], End::Whole),
        (&[HELLO, "data: {\"error\":{\"message\":\"No\",\"type\":\"server_error\"}}\n\n"], End::Whole),
    ] {
        let (_stage, _, url) = script(chat_stream(pieces, end));
        let via = via(&url, None);
        for front in [openai, anthropic] {
            let asked = request(front, "Hi", true);
            let got = post(&via.url(), front, &asked);
            let reply = read(front, &got);
            assert_eq!((got.status, said(&reply).0.as_str()), (200, "Hello"));
            assert!(reply.error.is_some() && reply.stop.is_none_or(|stop| stop == Stop::Failed), "{reply:?}");
            assert_eq!(broken(front, &asked, &got), [""; 0], "{end:?} for {}", front.name);
        }
    }
    // Before the first event, the status is one.
    for end in [End::Break, End::Whole, End::Stall] {
        let (_stage, _, url) = script(chat_stream(&[": wait\n\n"], end));
        let via = via(&url, None);
        for front in [openai, anthropic] {
            let got = post(&via.url(), front, &request(front, "Hi", true));
            assert!(got.status >= 500 && read(front, &got).error.is_some(), "{end:?} {}", got.status);
        }
    }
}

#[test]
fn refusals_keep_their_status_and_retry_after() {
    let [openai, anthropic, _] = dialects();
    for status in [400, 429, 503, 529] {
        let mut act = Act::new(status, "application/json", r#"{"error":{"message":"Too many","type":"x"}}"#);
        act.headers.push(("retry-after".to_owned(), "7".to_owned()));
        let (_stage, script, url) = script(act);
        let via = via(&url, None);
        for front in [openai, anthropic] {
            let got = post(&via.url(), front, &request(front, "Hi", true));
            assert_eq!((got.status, got.retry_after.as_deref()), (status, Some("7")));
            assert_eq!(read(front, &got).error.unwrap().message, "Too many");
        }
        assert_eq!(script.received.lock().unwrap().len(), 2);
    }
}

#[test]
fn each_side_has_its_own_key() {
    let [openai, _, chat] = dialects();
    let done =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (_stage, script, url) = script(chat_stream(&[HELLO, done], End::Whole));
    let via = via(&url, None);
    for front in [openai, chat] {
        let asked = request(front, "Hi", true);
        let got = post(&via.url(), front, &asked);
        assert_eq!(said(&read(front, &got)).0, "Hello");
    }
    let received = script.received.lock().unwrap();
    for request in received.iter() {
        assert_eq!(request.header("authorization"), Some("Bearer upstream-key"));
        assert!(!format!("{request:?}").contains("client-key"), "{request:?}");
    }
    // The bytes of the same API are passed on.
    let sent = request(chat, "Hi", true).to_string();
    assert_eq!(received.last().map(|request| request.body.clone()), Some(sent.into_bytes()));
}

#[test]
fn an_unknown_fault_is_refused_with_the_known_ones() {
    let unknown = ViaSettings {
        fault: Some("answer/none".into()),
        ..ViaSettings::new("http://127.0.0.1:9/v1", dialects()[0])
    };
    assert!(EmbeddedVia::start(unknown).unwrap_err().to_string().contains("answer/text"));
}
