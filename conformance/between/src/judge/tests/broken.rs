//! Recordings that break one rule.

use std::collections::BTreeSet;
use std::time::Duration;

use catalogue::{BETWEEN_RULES, HandlingMode};
use serde_json::Value;
use translation::{Choice, Format, Output, Part, Question};

use super::faults;
use super::{Bench, MARK};
use crate::evidence::{Ended, KeyPlace, Response, RunKey, SeenKey};
use crate::judge::SESSION_GROUPS;
use crate::judge::answer::calls_of;
use crate::judge::parts::turn::read;

/// Returns the rules about gateways that a test breaks.
fn broken(bench: &Bench) -> Vec<String> {
    let rules = bench.found().into_iter().map(|(rule, _)| rule);
    let rules: BTreeSet<String> =
        rules.filter(|rule| BETWEEN_RULES.iter().any(|it| it.id == *rule)).collect();
    rules.into_iter().collect()
}

/// Returns a bench without findings, of a test named `FRONT-UPSTREAM/CASE`.
fn good(test: &str) -> Bench {
    let (pair, case) = test.split_once('/').unwrap();
    let (front, upstream) = pair.split_once('-').unwrap();
    let bench = Bench::new(front, upstream, case);
    assert_eq!(broken(&bench), Vec::<String>::new(), "{test}");
    bench
}

fn parts(question: &mut Question) -> impl Iterator<Item = &mut Part> {
    question.turns.iter_mut().flat_map(|turn| &mut turn.parts)
}

/// A change of a question.
type Change = fn(&mut Question);

/// Rules about requests, each with a test, and a change of its question that breaks it.
const REQUESTS: &[(&str, &str, Change)] = &[
    ("request/instructions", "chat-messages/request/instructions", |it| it.instructions.clear()),
    ("request/instructions", "responses-chat/request/several-instructions", |it| drop(it.instructions.pop())),
    ("request/messages", "chat-messages/request/history", |it| drop(it.turns.drain(..2))),
    ("request/messages", "responses-responses/text/plain", |it| {
        let first = it.turns[0].parts[0].clone();
        it.turns[0].parts.push(first);
    }),
    ("request/roles", "responses-messages/request/instructions", |it| {
        let text = it.instructions.remove(0);
        it.turns[0].parts.insert(0, Part::Text(text));
    }),
    ("request/tools", "responses-messages/request/rich-schema", |it| {
        it.tools[0].parameters["properties"]["note"].as_object_mut().unwrap().remove("pattern");
    }),
    ("request/tools", "chat-messages/request/many-tools", |it| drop(it.tools.pop())),
    ("request/tool-choice", "chat-messages/call/forced", |it| it.choice = Choice::Any),
    ("request/one-call", "messages-responses/call/one-at-a-time", |it| it.is_one_call = false),
    ("request/limit", "messages-responses/text/plain", |it| it.limit = Some(100)),
    ("request/stops", "messages-chat/request/stops", |it| it.stops.clear()),
    ("request/sampling", "messages-chat/request/sampling", |it| it.top_p = None),
    ("request/sampling", "messages-chat/request/zero-temperature", |it| it.temperature = None),
    ("request/format", "responses-chat/request/json-schema", |it| it.format = Format::Text),
    ("request/images", "messages-chat/request/image-data", |it| drop(it.turns[0].parts.remove(0))),
    ("request/results", "messages-chat/call/round-trip", |it| {
        for part in parts(it) {
            match part {
                Part::Call(call) => call.id = "other".to_owned(),
                Part::Result(output) => output.id = "other".to_owned(),
                _ => {}
            }
        }
    }),
    ("request/results", "responses-messages/call/two-results", |it| {
        results(it).for_each(|output| output.text = "snow".to_owned());
    }),
    ("request/results", "messages-messages/call/failed-result", |it| {
        results(it).for_each(|output| output.is_error = false);
    }),
    ("request/reasoning", "responses-messages/reasoning/sealed", |it| {
        for part in parts(it) {
            if let Part::Reasoning(reasoning) = part {
                reasoning.seal = Some("c2VhbGVk".to_owned());
            }
        }
    }),
    ("request/reasoning", "responses-chat/request/effort", |it| it.effort = None),
    ("request/model", "chat-messages/call/round-trip", |it| it.model = "another".to_owned()),
    ("request/nothing-invented", "chat-messages/text/plain", |it| it.temperature = Some(0.3)),
];

fn results(question: &mut Question) -> impl Iterator<Item = &mut Output> {
    parts(question).filter_map(|part| if let Part::Result(output) = part { Some(output) } else { None })
}

fn requests() -> Vec<(&'static str, Bench)> {
    let asked = |change: fn(&mut Value)| {
        let mut bench = good("messages-chat/text/plain");
        let exchange = bench.evidence.upstream.last_mut().unwrap();
        let mut body: Value = exchange.request(bench.test.upstream.api).unwrap();
        change(&mut body);
        exchange.body = body.to_string().into_bytes();
        bench
    };
    let changed = |(rule, test, change): &(&'static str, &str, Change)| {
        let mut bench = good(test);
        bench.ask(change);
        (*rule, bench)
    };
    let odd = [
        ("request/schema", asked(|body| body["temperature"] = "hot".into())),
        ("request/nothing-invented", asked(|body| body["seed"] = 7.into())),
    ];
    odd.into_iter().chain(REQUESTS.iter().map(changed)).collect()
}

/// Rules about answers, each with a test, and a change of the client's stream that breaks it.
const ANSWERS: &[(&str, &str, [&str; 2])] = &[
    ("answer/text", "chat-messages/text/plain", ["wor", "w0r"]),
    ("answer/text", "messages-responses/text/unicode", ["日本", "\u{fffd}\u{fffd}"]),
    ("answer/calls", "chat-messages/call/one", ["get_weather", "get_time"]),
    ("answer/arguments", "chat-responses/call/one", ["Zür", "Bas"]),
    ("answer/reasoning", "messages-responses/reasoning/shown", ["about", "of"]),
    ("answer/refusal", "chat-responses/refusal/text", ["help", "do"]),
    ("answer/refusal", "chat-responses/refusal/text", ["\"refusal\":\"", "\"content\":\""]),
    ("answer/stop", "chat-messages/stop/limit", ["\"length\"", "\"stop\""]),
    (
        "answer/stop",
        "messages-messages/stop/sequence",
        ["\"stop_sequence\",\"stop_sequence\":\"END\"", "\"end_turn\",\"stop_sequence\":null"],
    ),
    ("answer/model", "chat-messages/text/plain", ["model-of-test", "gpt-x"]),
    ("answer/usage", "chat-messages/text/plain", ["\"prompt_tokens\":11", "\"prompt_tokens\":0"]),
    (
        "answer/nothing-invented",
        "messages-chat/whole/text",
        [r#""content":["#, r#""content":[{"type":"text","text":"","citations":null},"#],
    ),
    ("borders/same-answer", "messages-chat/borders/split", ["Grüße", "Gr\u{fffd}\u{fffd}ße"]),
];

fn answers() -> Vec<(&'static str, Bench)> {
    let mut kind = Bench::new("chat", "messages", "text/plain");
    kind.client().status = 500;
    kind.client().pieces =
        vec![(Duration::from_millis(5), br#"{"error":{"message":"no","type":"e"}}"#.to_vec())];
    let mut body = Bench::new("chat", "messages", "text/plain");
    let whole = Bench::new("chat", "messages", "whole/text").client().clone();
    *body.client() = whole;
    let mut ids = good("chat-responses/call/several");
    let reply = read(ids.test.front, ids.client());
    let [first, second, ..] = calls_of(&reply)[..] else { panic!("two calls: {reply:?}") };
    ids.replace(&second.id, &first.id);
    let changed = |(rule, test, [from, to]): &(&'static str, &str, [&str; 2])| {
        let mut bench = good(test);
        bench.replace(from, to);
        (*rule, bench)
    };
    let others = [("answer/ids", ids), ("answer/kind", kind), ("answer/kind", body)];
    others.into_iter().chain(ANSWERS.iter().map(changed)).collect()
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

/// Returns a client whose call comes before the text that the upstream sent first.
fn moved() -> Bench {
    let mut bench = good("chat-messages/call/text-before");
    let pieces = &mut bench.client().pieces;
    let is_text =
        |(_, bytes): &(Duration, Vec<u8>)| String::from_utf8_lossy(bytes).contains("\"content\":\"I look");
    let text = pieces.iter().position(is_text).expect("a text");
    let (_, first) = pieces.remove(text);
    let (_, second) = pieces.remove(text);
    let is_over =
        |(_, bytes): &(Duration, Vec<u8>)| String::from_utf8_lossy(bytes).contains("\"finish_reason\":\"");
    let end = pieces.iter().position(is_over).expect("an end");
    let at = pieces[end].0;
    pieces.splice(end..end, [(at, first), (at, second)]);
    bench
}

/// Returns a client whose texts lack their leading blanks, but come in time.
fn stripped() -> Bench {
    let mut bench = Bench::new("messages", "chat", "time/text");
    bench.replace("\" two\"", "\"two\"");
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
    let mut silent = Bench::new("messages", "chat", "time/silent-middle");
    silent.test.declared.keeps_alive = Some(10);
    let later = |response: &mut Response| {
        let half = response.pieces.len() / 2;
        for (at, _) in response.pieces.iter_mut().skip(half) {
            *at += Duration::from_secs(12);
        }
    };
    later(silent.upstream());
    later(silent.client());
    let mut heard = silent.clone();
    let half = heard.client().pieces.len() / 2;
    let (at, _) = heard.client().pieces[half];
    heard
        .client()
        .pieces
        .insert(half, (at.saturating_sub(Duration::from_secs(2)), b": keep-alive\n\n".to_vec()));
    assert_eq!(broken(&heard), Vec::<String>::new());
    let mut left = Bench::new("messages", "chat", "cancel/in-text");
    left.client().pieces.truncate(4);
    left.client().end = Ended::Left;
    left.upstream().end = Ended::Left;
    assert_eq!(broken(&left), Vec::<String>::new());
    left.upstream().end = Ended::Complete;
    left.client().ended_at = left.upstream().ended_at;
    assert_eq!(broken(&left), Vec::<String>::new());
    left.upstream().ended_at += Duration::from_millis(1);
    let mut drained = left.clone();
    drained.test.declared.drains = Some(2);
    assert_eq!(broken(&drained), Vec::<String>::new());
    drained.upstream().ended_at += Duration::from_secs(3);
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
    let mut upgrade = Bench::new("responses", "chat", "text/plain");
    upgrade.evidence.client[0].upgrade = Some(426);
    assert_eq!(broken(&upgrade), Vec::<String>::new());
    upgrade.evidence.client[0].upgrade = Some(403);
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
        ("time/in-step", buffered),
        ("time/kept-alive", silent),
        ("answer/text", stripped()),
        ("answer/order", moved()),
        ("cancel/upstream-left", left),
        ("cancel/upstream-left", drained),
        ("crowd/separate", mixed),
        ("keys/client", client_key),
        ("keys/upstream", upstream_key),
        ("passthrough/bytes", through),
        ("socket/upgrade", upgrade),
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
    let is_of_sessions = |id: &&str| SESSION_GROUPS.contains(&catalogue::group(id));
    let own = BETWEEN_RULES.iter().map(|rule| rule.id).filter(|id| !is_of_sessions(id));
    let unbroken: Vec<_> = own.filter(|id| !seen.contains(id)).collect();
    assert_eq!(unbroken, Vec::<&str>::new());
}
