//! Streams and bodies that are translated from each API to each other one.

use std::fs;
use std::path::Path;

use checker::{Checker, Exchange};
use serde_json::{Value, json};
use spec::Dialect;
use translation::{Part, Question, Reply, Stop, Translator, UpstreamEnd, stops};

const APIS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/apis");
const DIALECTS: [&str; 3] = ["openai", "anthropic", "chat"];
const NOW: u64 = 1_785_000_000;

/// Golden streams that no other API can say: a pause, spoken output, counts of 0, and input of a tool that is no JSON.
const OWN: [&str; 4] = ["pause-turn", "audio", "programmatic-tool-call", "custom-tool"];

fn dialects() -> [&'static Dialect; 3] {
    DIALECTS.map(|name| spec::dialect(name).unwrap())
}

/// Returns the names and bytes of the golden streams of a dialect.
fn goldens(dialect: &Dialect) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(APIS).join(dialect.api.name).join("goldens").join(dialect.name);
    let mut goldens: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    goldens.retain(|file| file.extension().is_some_and(|ending| ending == "sse"));
    goldens.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    goldens.into_iter().map(|file| (name(&file), fs::read(&file).unwrap())).collect()
}

fn others(dialect: &Dialect) -> impl Iterator<Item = &'static Dialect> {
    dialects().into_iter().filter(move |other| other.api.name != dialect.api.name)
}

fn request(front: &Dialect) -> Value {
    match front.api.name {
        "chat" => {
            json!({"model": "m", "messages": [], "stream": true, "stream_options": {"include_usage": true}})
        }
        _ => json!({"model": "m", "stream": true}),
    }
}

fn translator(front: &'static Dialect, upstream: &'static Dialect) -> Translator {
    let question = Question { model: "m".into(), is_stream: true, ..Question::default() };
    Translator::new(front, upstream, &question, &request(front), NOW)
}

/// Translates a whole stream. An error before it is none.
fn translated(front: &'static Dialect, upstream: &'static Dialect, bytes: &[u8]) -> Vec<u8> {
    let mut translator = translator(front, upstream);
    let mut out = translator.push(bytes);
    out.extend(translator.finish(&UpstreamEnd::Complete));
    assert_eq!(translator.early_error().is_some(), out.is_empty());
    out
}

/// Returns the ends of the events of a stream.
fn ends(bytes: &[u8]) -> Vec<usize> {
    (1..=bytes.len()).filter(|end| bytes[..*end].ends_with(b"\n\n")).collect()
}

/// The rules that no translator keeps whose upstream counts the input at its end, and does not sign its reasoning.
const NOT_CARRIED: [&str; 2] = ["usage/counts-input", "thinking/signed"];

/// Returns the rules that a stream breaks, with their messages.
fn broken(dialect: &'static Dialect, bytes: &[u8]) -> Vec<String> {
    let mut checker = Checker::new(dialect);
    checker.exchange(&Exchange { status: Some(200), ..Exchange::default() });
    checker.push(bytes);
    checker.finish();
    let findings = checker.findings().iter().filter(|finding| !NOT_CARRIED.contains(&&*finding.rule));
    findings.map(|it| format!("{}: {} {:?}", it.rule, it.message, it.expected)).collect()
}

/// What is equal in all APIs: texts and refusals, reasoning, calls, the error, and whether it has ended.
type Said = (String, String, Vec<[String; 2]>, Vec<Value>, bool, bool);

fn said(reply: &Reply) -> Said {
    let (mut text, mut reasoning, mut calls, mut arguments) = (String::new(), String::new(), vec![], vec![]);
    for part in &reply.parts {
        match part {
            Part::Text(own) | Part::Refusal(own) => text += own,
            Part::Reasoning(it) => reasoning += &it.text,
            Part::Call(call) => {
                calls.push([call.id.clone(), call.name.clone()]);
                arguments
                    .push(serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments)));
            }
            Part::Image(_) | Part::Result(_) => panic!("{part:?}"),
        }
    }
    (text, reasoning, calls, arguments, reply.error.is_some(), reply.is_ended && reply.error.is_none())
}

/// Returns whether a reply counts tokens like another, if that has counts.
fn counts_like(one: &Reply, other: &Reply) -> bool {
    let counts = |reply: &Reply| {
        reply.usage.map(|usage| [usage.input, usage.output, usage.reasoning.filter(|it| *it > 0)])
    };
    other.error.is_some() || other.usage.is_none() || counts(one) == counts(other)
}

/// Returns whether two replies ended for reasons that are the same, as far as the APIs tell them apart.
fn fits(one: &Reply, other: &Reply, apis: [&str; 2]) -> bool {
    let own = |reply: &Reply, api: &str| -> Vec<Stop> {
        let mut classes = stops(api, reply.word.as_deref().unwrap_or_default()).to_vec();
        classes.extend(reply.stop);
        classes
    };
    let other = own(other, apis[1]);
    own(one, apis[0]).iter().any(|class| other.contains(class))
}

#[test]
fn every_pair_says_the_same() {
    let mut problems = Vec::new();
    for upstream in dialects() {
        for (name, bytes) in goldens(upstream).into_iter().filter(|(name, _)| !OWN.contains(&&**name)) {
            let reply = Reply::of_stream(upstream, &bytes);
            for front in others(upstream) {
                let stream = translated(front, upstream, &bytes);
                if stream.is_empty() {
                    assert!(reply.error.is_some() && reply.parts.is_empty(), "{name}");
                    continue;
                }
                let place = format!("{}/{name} for {}", upstream.name, front.name);
                let got = Reply::of_stream(front, &stream);
                if said(&got) != said(&reply) || !counts_like(&got, &reply) {
                    problems.push(format!("{place}: {got:?}\n  is not {reply:?}"));
                }
                if reply.error.is_none() && !fits(&got, &reply, [front.api.name, upstream.api.name]) {
                    problems.push(format!("{place}: {:?} is not {:?}", got.word, reply.word));
                }
                // Without content or counts upstream, the client gets none.
                let is_upstreams = |finding: &String| {
                    reply.parts.is_empty()
                        && ["choice/has-content", "message/has-content"]
                            .iter()
                            .any(|rule| finding.starts_with(rule))
                        || reply.usage.is_none() && finding.starts_with("response/usage-present")
                };
                let findings = broken(front, &stream).into_iter().filter(|finding| !is_upstreams(finding));
                problems.extend(findings.map(|finding| format!("{place}: {finding}")));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn what_is_translated_does_not_depend_on_how_bytes_are_cut() {
    for upstream in dialects() {
        for (name, bytes) in goldens(upstream) {
            for front in others(upstream) {
                let mut translator = translator(front, upstream);
                let mut out: Vec<u8> = bytes.chunks(1).flat_map(|byte| translator.push(byte)).collect();
                out.extend(translator.finish(&UpstreamEnd::Complete));
                assert!(out == translated(front, upstream, &bytes), "{name} for {}", front.name);
            }
        }
    }
}

#[test]
fn text_is_translated_as_it_arrives() {
    for upstream in dialects() {
        for (name, bytes) in goldens(upstream) {
            for front in others(upstream) {
                let (mut translator, mut start, mut sent) = (translator(front, upstream), 0, Vec::new());
                let text = |bytes: &[u8], dialect| said(&Reply::of_stream(dialect, bytes)).0;
                for end in ends(&bytes) {
                    sent.extend(translator.push(&bytes[start..end]));
                    start = end;
                    let place = format!("{name} for {} at {end}", front.name);
                    assert_eq!(text(&sent, front), text(&bytes[..end], upstream), "{place}");
                }
            }
        }
    }
}

#[test]
fn a_stream_that_breaks_never_becomes_complete() {
    for upstream in dialects() {
        for (name, bytes) in goldens(upstream) {
            let ends = ends(&bytes);
            for end in ends.iter().copied().filter(|end| !Reply::of_stream(upstream, &bytes[..*end]).is_ended)
            {
                let rests: [(&[u8], UpstreamEnd); 4] = [
                    (b"", UpstreamEnd::Complete),
                    (b"data: {\"", UpstreamEnd::Broken("connection reset".into())),
                    (b"data: {\"type\": oh\n\n", UpstreamEnd::Complete),
                    (b"event: error\ndata: {\"error\":{\"type\":\"server_error\",\"message\":\"Broken\"}}\n\n", UpstreamEnd::Complete),
                ];
                for front in others(upstream) {
                    for (rest, how) in &rests {
                        let mut translator = translator(front, upstream);
                        let mut out = translator.push(&bytes[..end]);
                        out.extend(translator.push(rest));
                        out.extend(translator.finish(how));
                        assert!(translator.has_ended());
                        let place = format!("{name} for {} at {end}", front.name);
                        if translator.early_error().is_some() {
                            assert!(out.is_empty(), "{place}");
                            continue;
                        }
                        let reply = Reply::of_stream(front, &out);
                        assert!(reply.error.is_some(), "{place}");
                        assert!(
                            reply.stop.is_none() || reply.stop == Some(Stop::Failed),
                            "{place}: {:?}",
                            reply.stop
                        );
                        assert_eq!(broken(front, &out), [""; 0], "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn bodies_say_the_same() {
    for upstream in dialects() {
        for (name, bytes) in goldens(upstream).into_iter().filter(|(name, _)| !OWN.contains(&&**name)) {
            // The body is that of the same API, made from a stream of it.
            let reply = Reply::of_stream(upstream, &bytes);
            // Messages cannot have the beginning of an input in a body.
            if reply.error.is_some()
                || !reply.is_ended
                || name.contains("in-call")
                || name.contains("call-cut")
            {
                continue;
            }
            for middle in others(upstream) {
                let question = Question { model: "m".into(), ..Question::default() };
                let request = json!({"model": "m"});
                let body = Translator::new(middle, upstream, &question, &request, NOW).reply(&reply);
                let text = body.to_string();
                let got = Reply::of_body(middle, 200, text.as_bytes());
                let place = format!("{}/{name} for {}", upstream.name, middle.name);
                assert_eq!(said(&got), said(&reply), "{place}");
                assert!(counts_like(&got, &reply), "{place}");
                let root = middle.root("response").unwrap();
                let verdict = middle.check_type(root, &text);
                assert!(verdict.is_valid(), "{place}: {verdict:?}\n{text}");
                // And from there to the others.
                for front in others(middle) {
                    let mut translator = Translator::new(front, middle, &question, &request, NOW);
                    let (status, body) = translator.body(200, text.as_bytes());
                    assert_eq!(status, 200, "{place} for {}", front.name);
                    let got = Reply::of_body(front, 200, body.to_string().as_bytes());
                    assert_eq!(said(&got), said(&reply), "{place} for {}", front.name);
                }
            }
        }
    }
}

#[test]
fn errors_keep_their_status_and_message() {
    for upstream in dialects() {
        for front in others(upstream) {
            let mut translator = translator(front, upstream);
            for status in [400, 401, 403, 404, 408, 413, 429, 500, 503, 529] {
                let body = json!({"error": {"type": "some_error", "message": "Oh no \u{1F62E}"}}).to_string();
                let (own, body) = translator.body(status, body.as_bytes());
                assert_eq!(own, status);
                let body = body.to_string();
                let error = Reply::of_body(front, status, body.as_bytes()).error.unwrap();
                assert_eq!(error.message, "Oh no \u{1F62E}");
                let mut checker = Checker::new(front);
                checker.exchange(&Exchange { status: Some(status), ..Exchange::default() });
                checker.body(&checker::Frame { data: Some(body.as_str().into()), ..Default::default() });
                checker.finish();
                assert!(checker.findings().is_empty(), "{status} {} {:?}", front.name, checker.findings());
            }
            let (status, body) = translator.body(502, b"<html>Bad gateway</html>");
            assert_eq!(status, 502);
            assert_eq!(
                Reply::of_body(front, 502, body.to_string().as_bytes()).error.unwrap().message,
                "<html>Bad gateway</html>"
            );
            assert_eq!(translator.body(200, b"[]").0, 502);
        }
    }
}

#[test]
fn interleaved_calls_become_blocks_one_after_another() {
    let [_, anthropic, chat] = dialects();
    let call = |index: u32, head: &str, arguments: &str| {
        let function = json!({ "arguments": arguments });
        format!(
            "data: {{\"id\":\"chatcmpl-7\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{index},{head}\
             \"function\":{function}}}]}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let stream = [
        call(0, "\"id\":\"a\",", "{\"x\""),
        call(1, "\"id\":\"b\",", "{\"y\""),
        call(0, "", ":1}"),
        call(1, "", ":2}"),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let out = translated(anthropic, chat, stream.as_bytes());
    let (own, got) = (Reply::of_stream(chat, stream.as_bytes()), Reply::of_stream(anthropic, &out));
    assert_eq!(said(&got), said(&own));
    let broken: Vec<String> =
        broken(anthropic, &out).into_iter().filter(|it| !it.starts_with("tool-use/named")).collect();
    assert_eq!(broken, [""; 0]);
}
