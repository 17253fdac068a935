//! Recordings that break one rule.

use std::collections::BTreeSet;
use std::time::Duration;

use catalogue::{BETWEEN_RULES, HandlingMode};
use serde_json::Value;
use translation::{Choice, Format, Part, Question};

use super::faults;
use super::{Bench, MARK};
use crate::evidence::{Ended, KeyPlace, RunKey, SeenKey};

/// Returns the rules about gateways that a test breaks.
fn broken(bench: &Bench) -> Vec<String> {
    let rules = bench.found().into_iter().map(|(rule, _)| rule);
    let rules: BTreeSet<String> =
        rules.filter(|rule| BETWEEN_RULES.iter().any(|it| it.id == *rule)).collect();
    rules.into_iter().collect()
}

fn asked(front: &str, upstream: &str, case: &str, change: impl FnOnce(&mut Question)) -> Bench {
    let mut bench = Bench::new(front, upstream, case);
    assert_eq!(broken(&bench), Vec::<String>::new(), "{front}-{upstream}/{case}");
    bench.ask(change);
    bench
}

fn answered(front: &str, upstream: &str, case: &str, from: &str, to: &str) -> Bench {
    let mut bench = Bench::new(front, upstream, case);
    assert_eq!(broken(&bench), Vec::<String>::new(), "{front}-{upstream}/{case}");
    bench.replace(from, to);
    bench
}

fn parts(question: &mut Question) -> impl Iterator<Item = &mut Part> {
    question.turns.iter_mut().flat_map(|turn| &mut turn.parts)
}

fn requests() -> Vec<(&'static str, Bench)> {
    let mut schema = Bench::new("messages", "chat", "text/plain");
    let exchange = schema.evidence.upstream.last_mut().unwrap();
    let mut body: Value = exchange.request().unwrap();
    body["temperature"] = "hot".into();
    exchange.body = body.to_string().into_bytes();
    let mut seed = Bench::new("messages", "chat", "text/plain");
    let exchange = seed.evidence.upstream.last_mut().unwrap();
    body["temperature"] = Value::Null;
    body["seed"] = 7.into();
    exchange.body = body.to_string().into_bytes();
    let moved = |question: &mut Question| {
        let text = question.instructions.remove(0);
        question.turns[0].parts.insert(0, Part::Text(text));
    };
    let said_twice = |question: &mut Question| {
        let first = question.turns[0].parts[0].clone();
        question.turns[0].parts.push(first);
    };
    vec![
        ("request/schema", schema),
        ("request/nothing-invented", seed),
        (
            "request/instructions",
            asked("chat", "messages", "request/instructions", |it| it.instructions.clear()),
        ),
        (
            "request/instructions",
            asked("responses", "chat", "request/several-instructions", |it| {
                it.instructions.pop();
            }),
        ),
        (
            "request/messages",
            asked("chat", "messages", "request/history", |it| {
                it.turns.drain(..2);
            }),
        ),
        ("request/messages", asked("responses", "responses", "text/plain", said_twice)),
        ("request/roles", asked("responses", "messages", "request/instructions", moved)),
        (
            "request/tools",
            asked("responses", "messages", "request/rich-schema", |it| {
                it.tools[0].parameters["properties"]["note"].as_object_mut().unwrap().remove("pattern");
            }),
        ),
        (
            "request/tools",
            asked("chat", "messages", "request/many-tools", |it| {
                it.tools.pop();
            }),
        ),
        ("request/tool-choice", asked("chat", "messages", "call/forced", |it| it.choice = Choice::Any)),
        (
            "request/one-call",
            asked("messages", "responses", "call/one-at-a-time", |it| it.is_one_call = false),
        ),
        ("request/limit", asked("messages", "responses", "text/plain", |it| it.limit = Some(100))),
        ("request/stops", asked("messages", "chat", "request/stops", |it| it.stops.clear())),
        ("request/sampling", asked("messages", "chat", "request/sampling", |it| it.top_p = None)),
        (
            "request/sampling",
            asked("messages", "chat", "request/zero-temperature", |it| it.temperature = None),
        ),
        ("request/format", asked("responses", "chat", "request/json-schema", |it| it.format = Format::Text)),
        (
            "request/images",
            asked("messages", "chat", "request/image-data", |it| {
                it.turns[0].parts.remove(0);
            }),
        ),
        (
            "request/results",
            asked("messages", "chat", "call/round-trip", |it| {
                for part in parts(it) {
                    match part {
                        Part::Call(call) => call.id = "other".to_owned(),
                        Part::Result(output) => output.id = "other".to_owned(),
                        _ => {}
                    }
                }
            }),
        ),
        (
            "request/results",
            asked("responses", "messages", "call/two-results", |it| {
                for part in parts(it) {
                    if let Part::Result(output) = part {
                        output.text = "snow".to_owned();
                    }
                }
            }),
        ),
        (
            "request/results",
            asked("messages", "messages", "call/failed-result", |it| {
                for part in parts(it) {
                    if let Part::Result(output) = part {
                        output.is_error = false;
                    }
                }
            }),
        ),
        (
            "request/reasoning",
            asked("responses", "messages", "reasoning/sealed", |it| {
                for part in parts(it) {
                    if let Part::Reasoning(reasoning) = part {
                        reasoning.seal = Some("c2VhbGVk".to_owned());
                    }
                }
            }),
        ),
        ("request/reasoning", asked("responses", "chat", "request/effort", |it| it.effort = None)),
        ("request/model", asked("chat", "messages", "call/round-trip", |it| it.model = "another".to_owned())),
        (
            "request/nothing-invented",
            asked("chat", "messages", "text/plain", |it| it.temperature = Some(0.3)),
        ),
    ]
}

fn answers() -> Vec<(&'static str, Bench)> {
    let mut kind = Bench::new("chat", "messages", "text/plain");
    kind.client().status = 500;
    kind.client().pieces =
        vec![(Duration::from_millis(5), br#"{"error":{"message":"no","type":"e"}}"#.to_vec())];
    let mut body = Bench::new("chat", "messages", "text/plain");
    let whole = Bench::new("chat", "messages", "whole/text").client().clone();
    *body.client() = whole;
    let empty = r#""content":[{"type":"text","text":"","citations":null},"#;
    vec![
        ("answer/text", answered("chat", "messages", "text/plain", "wor", "w0r")),
        ("answer/text", answered("messages", "responses", "text/unicode", "日本", "\u{fffd}\u{fffd}")),
        ("answer/calls", answered("chat", "messages", "call/one", "get_weather", "get_time")),
        ("answer/arguments", answered("chat", "responses", "call/one", "Zür", "Bas")),
        ("answer/ids", {
            let bench = Bench::new("chat", "responses", "call/several");
            let ids: Vec<String> = crate::judge::answer::calls_of(&crate::judge::turn::read(
                bench.test.front,
                bench.evidence.client[0].response.as_ref().unwrap(),
            ))
            .iter()
            .map(|call| call.id.clone())
            .collect();
            answered("chat", "responses", "call/several", &ids[1], &ids[0])
        }),
        ("answer/reasoning", answered("messages", "responses", "reasoning/shown", "about", "of")),
        ("answer/refusal", answered("chat", "responses", "refusal/text", "help", "do")),
        ("answer/stop", answered("chat", "messages", "stop/limit", "\"length\"", "\"stop\"")),
        (
            "answer/stop",
            answered(
                "messages",
                "messages",
                "stop/sequence",
                "\"stop_sequence\",\"stop_sequence\":\"END\"",
                "\"end_turn\",\"stop_sequence\":null",
            ),
        ),
        ("answer/model", answered("chat", "messages", "text/plain", "model-of-test", "gpt-x")),
        (
            "answer/usage",
            answered("chat", "messages", "text/plain", "\"prompt_tokens\":11", "\"prompt_tokens\":0"),
        ),
        ("answer/kind", kind),
        ("answer/kind", body),
        ("answer/nothing-invented", answered("messages", "chat", "whole/text", r#""content":["#, empty)),
        (
            "borders/same-answer",
            answered("messages", "chat", "borders/split", "Grüße", "Gr\u{fffd}\u{fffd}ße"),
        ),
    ]
}

/// Returns two clients at once, each with its own word.
fn crowd() -> Bench {
    let mut bench = Bench::new("chat", "messages", "crowd/eight");
    for side in [&mut bench.evidence.client, &mut bench.evidence.upstream] {
        let of_one = |number: usize| {
            let mut exchange = side[0].clone();
            let word = format!("{MARK}-{number}-");
            exchange.body = String::from_utf8_lossy(&exchange.body).replace(MARK, &word).into_bytes();
            for (_, piece) in &mut exchange.response.as_mut().unwrap().pieces {
                *piece = String::from_utf8_lossy(piece).replace(MARK, &word).into_bytes();
            }
            exchange
        };
        *side = vec![of_one(0), of_one(1)];
    }
    bench
}

fn others() -> Vec<(&'static str, Bench)> {
    let mut held = Bench::new("messages", "chat", "time/text");
    let count = held.client().pieces.len();
    for (at, _) in held.client().pieces.iter_mut().skip(count / 2) {
        *at += Duration::from_millis(25);
    }
    let mut buffered = Bench::new("messages", "chat", "time/text");
    for (at, _) in &mut buffered.client().pieces {
        *at += Duration::from_secs(1);
    }
    let mut left = Bench::new("messages", "chat", "cancel/in-text");
    left.client().pieces.truncate(4);
    left.client().end = Ended::Left;
    left.upstream().end = Ended::Left;
    assert_eq!(broken(&left), Vec::<String>::new());
    left.upstream().end = Ended::Complete;
    left.client().ended_at = left.upstream().ended_at;
    assert_eq!(broken(&left), Vec::<String>::new());
    left.upstream().ended_at += Duration::from_millis(1);
    let mut mixed = crowd();
    assert_eq!(broken(&mixed), Vec::<String>::new());
    let other = mixed.evidence.client[1].response.clone();
    mixed.evidence.client[0].response = other;
    let mut client_key = Bench::new("messages", "chat", "text/plain");
    let key = |key, place| SeenKey { key, place };
    client_key.evidence.client[0].keys = vec![key(RunKey::Client, KeyPlace::RequestHeaders)];
    client_key.evidence.upstream[0].keys = vec![key(RunKey::Upstream, KeyPlace::RequestHeaders)];
    assert_eq!(broken(&client_key), Vec::<String>::new());
    client_key.evidence.upstream[0].keys.push(key(RunKey::Client, KeyPlace::RequestBody));
    let mut upstream_key = Bench::new("messages", "chat", "text/plain");
    upstream_key.evidence.client[0].keys = vec![key(RunKey::Upstream, KeyPlace::ResponseBody)];
    let mut through = Bench::new("messages", "messages", "text/plain");
    through.test.mode = HandlingMode::Passthrough;
    *through.client() = through.evidence.upstream[0].response.clone().unwrap();
    through.evidence.upstream[0].body = through.evidence.client[0].body.clone();
    assert_eq!(broken(&through), Vec::<String>::new());
    through.evidence.upstream[0].body.push(b'\n');
    vec![
        ("time/in-step", held),
        ("time/first-byte", buffered),
        ("cancel/upstream-left", left),
        ("crowd/separate", mixed),
        ("keys/client", client_key),
        ("keys/upstream", upstream_key),
        ("passthrough/bytes", through),
    ]
}

#[test]
fn each_rule_is_broken_alone() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (rule, bench) in requests().into_iter().chain(answers()).chain(others()).chain(faults::broken()) {
        let found = broken(&bench);
        if found != [rule] {
            wrong.push(format!("{} {rule}: {:?}", bench.test.name, bench.judge().findings));
        }
        seen.insert(rule);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unbroken: Vec<_> = BETWEEN_RULES.iter().map(|rule| rule.id).filter(|id| !seen.contains(id)).collect();
    assert_eq!(unbroken, Vec::<&str>::new());
}
