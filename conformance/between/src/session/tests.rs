//! Cases that no fault of the reference translator shows: both ends of a session, with changes.

use std::path::Path;
use std::time::Duration;
use std::{env, fs, process};

use catalogue::{AGENT_PROFILES, BETWEEN_CASES, HandlingMode, Level};
use results::Declared;
use serde_json::{Value, json};
use translation::{Part, Question, Reasoning, Turn};

use super::ends::{exchanged, of_ends};
use super::{RecordedRequest, Session, read_sessions};
use crate::evidence::{Ended, Evidence, Exchanged, Method, Response, Test};
use crate::judge::judge;

/// A session whose ends are the same, as a gateway that passes bytes on leaves them.
fn same(name: &str) -> (Test, Evidence) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/sessions/{name}.jsonl"));
    let session: Session = (*read_sessions(&[file], None).unwrap().0[0]).clone();
    let test = of_ends(&session, &session).unwrap();
    let exchanges: Vec<Exchanged> = session
        .requests
        .iter()
        .enumerate()
        .map(|(turn, request)| exchanged(request, &session, turn))
        .collect();
    let evidence = Evidence { client: exchanges.clone(), upstream: exchanges, ..Evidence::default() };
    (Test { mode: HandlingMode::Transform, ..test }, evidence)
}

fn found(test: &Test, evidence: &Evidence) -> Vec<String> {
    let mut all: Vec<String> = judge(test, evidence)
        .findings
        .into_iter()
        .map(|finding| format!("{} {} ({})", finding.level.keyword(), finding.rule, finding.kind))
        .collect();
    all.sort();
    all
}

fn change(exchange: &mut Exchanged, change: impl FnOnce(&mut Value)) {
    let mut request = serde_json::from_slice(&exchange.body).unwrap();
    change(&mut request);
    exchange.body = request.to_string().into_bytes();
}

#[test]
fn equal_ends_are_right() {
    for name in ["boat", "garden", "kite", "library"] {
        let (test, evidence) = same(name);
        assert_eq!(found(&test, &evidence), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_key_may_be_replaced_by_one_that_stays() {
    let (test, mut evidence) = same("library");
    for exchange in &mut evidence.upstream {
        change(exchange, |request| request["prompt_cache_key"] = json!("hash-1"));
    }
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
    change(&mut evidence.upstream[3], |request| request["prompt_cache_key"] = json!("hash-2"));
    assert_eq!(found(&test, &evidence), ["SHOULD cache/key-stable (changed)"]);
    change(&mut evidence.upstream[3], |request| {
        drop(request.as_object_mut().unwrap().remove("prompt_cache_key"));
    });
    assert_eq!(found(&test, &evidence), ["SHOULD cache/key-stable (lost)"]);
}

#[test]
fn a_system_that_is_lost_is_found() {
    let (test, mut evidence) = same("boat");
    for exchange in &mut evidence.upstream {
        change(exchange, |request| drop(request["messages"].as_array_mut().unwrap().remove(0)));
    }
    assert_eq!(found(&test, &evidence), ["MUST session/system-inside (lost)"]);
}

#[test]
fn an_attribution_that_another_api_joins_loses_no_instructions() {
    let (test, mut evidence) = same("garden");
    let join = |exchange: &mut Exchanged, api| {
        let request: Value = serde_json::from_slice(&exchange.body).unwrap();
        let mut question = Question::read(test.front.api, &request);
        let texts = request["system"].as_array().unwrap().iter();
        let texts: Vec<&str> = texts.map(|block| block["text"].as_str().unwrap()).collect();
        question.instructions = vec![texts.join("\n\n")];
        exchange.body = question.write(api).to_string().into_bytes();
    };
    let levels = |test: &Test, evidence: &Evidence| {
        let mut all = found(test, evidence);
        all.retain(|finding| finding.contains("attribution-alone"));
        all
    };
    evidence.upstream.iter_mut().for_each(|exchange| join(exchange, test.front.api));
    assert_eq!(levels(&test, &evidence), ["MUST contract/attribution-alone (merged)"]);
    let chat = spec::dialect("chat").unwrap();
    let (_, mut evidence) = same("garden");
    evidence.upstream.iter_mut().for_each(|exchange| join(exchange, chat.api));
    let test = Test { upstream: chat, ..test.clone() };
    assert_eq!(levels(&test, &evidence), ["SHOULD contract/attribution-alone (merged)"]);
}

#[test]
fn a_seal_that_a_part_lost_is_found() {
    let (test, mut evidence) = same("kite");
    change(&mut evidence.upstream[1], |request| {
        let parts = request["contents"][1]["parts"].as_array_mut().unwrap();
        let lost = parts.iter_mut().filter_map(|part| part.as_object_mut()?.remove("thoughtSignature"));
        assert_eq!(lost.count(), 1);
    });
    assert!(found(&test, &evidence).contains(&"MUST session/sealed-kept (lost)".to_owned()));
}

#[test]
fn one_of_two_equal_seals_is_lost() {
    let (test, mut evidence) = same("garden");
    let seals = seals_of(&evidence);
    for exchange in evidence.client.iter_mut().chain(&mut evidence.upstream) {
        let bodies = exchange.response.as_mut().unwrap().pieces.iter_mut().map(|(_, bytes)| bytes);
        for bytes in bodies.chain([&mut exchange.body]) {
            *bytes = String::from_utf8_lossy(bytes).replace(&seals[1], &seals[0]).into_bytes();
        }
    }
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
    let both = evidence.upstream.iter_mut().rev();
    let mut both = both.filter(|it| String::from_utf8_lossy(&it.body).matches(&*seals[0]).count() == 2);
    let last = both.next().unwrap();
    last.body = String::from_utf8_lossy(&last.body).replacen(&*seals[0], "", 1).into_bytes();
    assert!(found(&test, &evidence).contains(&"MUST session/sealed-kept (lost)".to_owned()));
}

/// The gateway gives the client each seal in an envelope.
fn wrap(evidence: &mut Evidence, seals: &[&str]) {
    for exchange in &mut evidence.client {
        let bodies = exchange.response.as_mut().unwrap().pieces.iter_mut().map(|(_, bytes)| bytes);
        for bytes in bodies.chain([&mut exchange.body]) {
            let text = seals.iter().fold(String::from_utf8_lossy(bytes).into_owned(), |text, seal| {
                text.replace(seal, &format!("wrapped-{seal}"))
            });
            *bytes = text.into_bytes();
        }
    }
}

#[test]
fn a_seal_may_reach_the_client_in_an_envelope() {
    let (test, original) = same("garden");
    let seals = seals_of(&original);
    let seals: Vec<&str> = seals.iter().map(String::as_str).collect();
    assert_eq!(seals.len(), 2);
    let mut evidence = original.clone();
    wrap(&mut evidence, &seals);
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
    // The envelope is none of the upstream's seals.
    evidence.upstream.clone_from(&evidence.client);
    for (exchange, own) in evidence.upstream.iter_mut().zip(&original.upstream) {
        exchange.response.clone_from(&own.response);
    }
    assert_eq!(found(&test, &evidence), ["MUST session/sealed-kept (lost)"]);
}

#[test]
fn an_envelope_hides_no_seal_of_another_provider() {
    let (test, mut evidence) = same("garden");
    let case = BETWEEN_CASES.iter().find(|case| case.id == "session/two-homes").unwrap();
    let test = Test { case, ..test };
    let seals = seals_of(&evidence);
    wrap(&mut evidence, &seals.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
    for exchange in evidence.client.iter_mut().chain(&mut evidence.upstream).filter(|it| it.turn > 5) {
        change(exchange, |request| request["model"] = json!("other"));
    }
    assert!(found(&test, &evidence).contains(&"MUST session/reasoning-home ()".to_owned()));
}

/// The signatures that the upstream issues in a session of Messages.
fn seals_of(evidence: &Evidence) -> Vec<String> {
    let deltas = evidence.upstream.iter().flat_map(|exchange| exchange.response.as_ref().unwrap().values());
    deltas.filter_map(|event| Some(event["delta"]["signature"].as_str()?.to_owned())).collect()
}

#[test]
fn a_broken_connection_may_be_tried_again_as_declared() {
    let (test, mut evidence) = same("boat");
    let mut broken = evidence.upstream[1].clone();
    let response = broken.response.as_mut().unwrap();
    response.pieces.clear();
    response.end = Ended::Broken("reset".to_owned());
    evidence.upstream.insert(1, broken.clone());
    assert_eq!(found(&test, &evidence), ["MUST session/one-request (repeated)"]);
    let declared = Test { declared: Declared { retries: 1, ..Declared::default() }, ..test };
    assert_eq!(found(&declared, &evidence), Vec::<String>::new());
    evidence.upstream.insert(1, broken);
    assert_eq!(found(&declared, &evidence), ["MUST session/one-request (repeated)"]);
}

#[test]
fn a_turn_that_the_gateway_adds_is_found() {
    let (test, mut evidence) = same("boat");
    let mut nudge = evidence.upstream[2].clone();
    let turn = json!({"role": "user", "content": "You only described a plan. Call the tools now."});
    change(&mut nudge, |request| request["messages"].as_array_mut().unwrap().push(turn));
    evidence.upstream.push(nudge);
    assert_eq!(found(&test, &evidence), ["MUST session/one-request (after an answer)"]);
    evidence.upstream.remove(2);
    assert_eq!(found(&test, &evidence), ["MUST session/one-request (a turn of the user)"]);
}

#[test]
fn a_result_that_becomes_a_text_is_found() {
    let (test, mut evidence) = same("boat");
    let mut texts = 0;
    for exchange in &mut evidence.upstream {
        change(exchange, |request| {
            for message in request["messages"].as_array_mut().unwrap().iter_mut() {
                if message["role"] == "tool" {
                    *message = json!({"role": "user", "content": message["content"]});
                    texts += 1;
                }
            }
        });
    }
    assert!(texts > 0);
    assert_eq!(found(&test, &evidence), ["MUST session/tools-kept (results)"]);
}

#[test]
fn a_result_behind_a_text_is_found() {
    let (test, mut evidence) = same("boat");
    let interjection = json!({"role": "user", "content": "Wait."});
    let interrupt = |exchanges: &mut [Exchanged]| {
        for exchange in exchanges {
            change(exchange, |request| {
                let messages = request["messages"].as_array_mut().unwrap();
                if let Some(at) = messages.iter().position(|message| message["role"] == "tool") {
                    messages.insert(at, interjection.clone());
                }
            });
        }
    };
    interrupt(&mut evidence.upstream);
    let all = found(&test, &evidence);
    assert!(all.contains(&"MUST session/tools-kept (behind a text)".to_owned()), "{all:?}");
    // The client may do so itself.
    interrupt(&mut evidence.client);
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
}

#[test]
fn a_token_of_another_class_is_found() {
    let (test, mut evidence) = same("garden");
    let at = evidence
        .upstream
        .iter()
        .position(|exchange| exchange.response.as_ref().unwrap().status == 400)
        .unwrap();
    let say = |evidence: &mut Evidence, side: usize, message: &str| {
        let exchanges = [&mut evidence.upstream, &mut evidence.client];
        let [upstream, client] = exchanges;
        let response = [upstream, client][side][at].response.as_mut().unwrap();
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        response.pieces = vec![(response.ended_at, body.to_string().into_bytes())];
    };
    say(&mut evidence, 0, "Could not process image");
    for (told, is_right) in [
        ("Could not process image", true),
        ("capability_rejected: image_block", true),
        ("capability_rejected: document_block", false),
        ("The upstream says capability_rejected: image_block", false),
    ] {
        say(&mut evidence, 1, told);
        let wanted: &[&str] = if is_right { &[] } else { &["MUST contract/error-token (class)"] };
        assert_eq!(found(&test, &evidence), wanted, "{told}");
    }
}

#[test]
fn a_header_that_nobody_knows_is_passed_on() {
    let (test, mut evidence) = same("garden");
    let header = ("anthropic-tomorrow".to_owned(), "1".to_owned());
    evidence.client.iter_mut().for_each(|exchange| exchange.headers.push(header.clone()));
    assert_eq!(found(&test, &evidence), ["SHOULD contract/open-list (anthropic-tomorrow)"]);
    evidence.upstream.iter_mut().for_each(|exchange| exchange.headers.push(header.clone()));
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
}

#[test]
fn probes_are_answered_at_once() {
    let (test, evidence) = same("garden");
    let probed = |method: Method, path: &str, response: Response| {
        let body = vec![b'x'; if method == Method::Post { 1000 } else { 0 }];
        let probe = Exchanged {
            method,
            path: path.to_owned(),
            body,
            response: Some(response),
            ..Exchanged::default()
        };
        found(&test, &Evidence { probes: vec![probe], ..evidence.clone() })
    };
    let answer = |status: u16, body: &str| Response {
        status,
        pieces: vec![(Duration::ZERO, body.as_bytes().to_vec())],
        ..Response::default()
    };
    let silent = Response { end: Ended::Silent("3 s".to_owned()), ..Response::default() };
    let (models, count) = ("/v1/models?limit=1000", "/v1/messages/count_tokens?beta=true");
    for (method, path, response, wanted) in [
        (Method::Head, "/api/hello", answer(404, ""), None),
        (Method::Head, "/api/hello", answer(500, ""), None),
        (Method::Head, "/api/hello", answer(307, ""), Some("SHOULD contract/probe (/api/hello)")),
        (Method::Head, "/api/hello", silent, Some("SHOULD contract/probe (/api/hello)")),
        (Method::Get, models, answer(404, "no"), None),
        (Method::Get, models, answer(200, r#"{"data": [{"id": "m"}]}"#), None),
        (Method::Get, models, answer(200, "<html>"), Some("SHOULD contract/probe (/v1/models)")),
        (Method::Post, count, answer(501, "no"), None),
        (Method::Post, count, answer(200, r#"{"input_tokens": 200}"#), None),
        (
            Method::Post,
            count,
            answer(200, r#"{"input_tokens": 1}"#),
            Some("SHOULD contract/count-tokens (count)"),
        ),
        (Method::Post, count, answer(200, "{}"), Some("SHOULD contract/count-tokens (count)")),
    ] {
        assert_eq!(
            probed(method, path, response.clone()).first().map(String::as_str),
            wanted,
            "{path} {response:?}"
        );
    }
}

#[test]
fn a_client_that_breaks_its_own_prefix_excuses_the_gateway() {
    let (test, mut evidence) = same("boat");
    for exchanges in [&mut evidence.client, &mut evidence.upstream] {
        change(&mut exchanges[2], |request| request["messages"][1]["content"] = json!("How deep is it?"));
    }
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
    // In front of that place, it is the gateway.
    change(&mut evidence.upstream[2], |request| {
        request["tools"][0]["function"]["description"] = json!("12:00");
    });
    assert_eq!(found(&test, &evidence), ["MUST cache/prefix-stable (tools)"]);
}

#[test]
fn a_break_that_looks_like_an_end_is_found() {
    let (test, mut evidence) = same("garden");
    let response = evidence.client[5].response.as_mut().unwrap();
    response.end = Ended::Complete;
    assert_eq!(found(&test, &evidence), ["MUST session/break-told (clean end)"]);
    let end = b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    evidence.client[5].response.as_mut().unwrap().pieces.push((std::time::Duration::ZERO, end.to_vec()));
    assert_eq!(found(&test, &evidence), ["MUST session/break-told (complete)"]);
    // The end of the upstream is as clean, and the gateway passes it on.
    let (_, mut evidence) = same("garden");
    for exchanges in [&mut evidence.client, &mut evidence.upstream] {
        exchanges[5].response.as_mut().unwrap().end = Ended::Complete;
    }
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
}

#[test]
fn another_order_of_betas_is_less_than_a_lost_one() {
    let (test, mut evidence) = same("garden");
    for exchange in &mut evidence.upstream {
        let header = exchange.headers.iter_mut().find(|(name, _)| name == "anthropic-beta").unwrap();
        let mut values: Vec<&str> = header.1.split(',').collect();
        values.reverse();
        header.1 = values.join(",");
    }
    assert_eq!(found(&test, &evidence), ["SHOULD contract/beta (order)"]);
    assert!(judge(&test, &evidence).findings.iter().all(|finding| finding.level == Level::Should));
}

/// The session of a transcript that an agent wrote, as its agent or another one asks.
fn transcript(name: &str, agent: Option<&str>) -> Session {
    let agent = agent.map(|id| AGENT_PROFILES.iter().find(|profile| profile.id == id).unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recordings/tests/logs").join(name);
    (*read_sessions(&[file], agent).unwrap().0[0]).clone()
}

fn asked(session: &Session) -> Vec<Question> {
    let read = |request: &RecordedRequest| serde_json::from_str(&request.body).unwrap();
    session.requests.iter().map(|request| Question::read(session.api(), &read(request))).collect()
}

#[test]
fn a_transcript_is_a_session_of_its_agent() {
    for (name, agent, seals) in [
        ("claude-code.jsonl", "messages/claude-code", 1),
        ("codex.jsonl", "responses/codex", 1),
        ("opencode.json", "messages/opencode", 0),
    ] {
        let session = transcript(name, None);
        assert_eq!((session.made_as.unwrap().id, session.len()), (agent, 2));
        let turns: Vec<Vec<Turn>> = asked(&session).into_iter().map(|question| question.turns).collect();
        // The second request repeats the first one, with its answer and what was said after it.
        assert!(turns[1].starts_with(&turns[0]) && turns[1].len() == turns[0].len() + 2, "{name}");
        let sealed = |part: &&Part| matches!(part, Part::Reasoning(Reasoning { seal: Some(_), .. }));
        assert_eq!(turns[1].iter().flat_map(|turn| &turn.parts).filter(sealed).count(), seals, "{name}");
        let test = of_ends(&session, &session).unwrap();
        let exchanges = session.requests.iter().enumerate();
        let exchanges: Vec<Exchanged> = exchanges.map(|(turn, it)| exchanged(it, &session, turn)).collect();
        let evidence = Evidence { client: exchanges.clone(), upstream: exchanges, ..Evidence::default() };
        assert_eq!(found(&test, &evidence), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn another_agent_can_ask_the_same() {
    let [own, other] = [None, Some("chat/pi")].map(|agent| transcript("opencode.json", agent));
    assert_eq!((own.len(), own.api().name, other.api().name), (other.len(), "messages", "chat"));
    let calls = |session: &Session| asked(session).last().unwrap().turns.len();
    assert_eq!(calls(&own), calls(&other));
}

#[test]
fn an_endpoint_that_refuses_an_agent_is_found() {
    let (test, mut evidence) = same("boat");
    let test = Test { mode: HandlingMode::Local, ..test };
    evidence.upstream.clear();
    assert_eq!(found(&test, &evidence), Vec::<String>::new());
    evidence.client[0].response.as_mut().unwrap().status = 400;
    assert!(found(&test, &evidence).contains(&"MUST contract/open-list (refused)".to_owned()));
}

#[test]
fn a_hostile_transcript_is_read() {
    let file = env::temp_dir().join(format!("conformance-hostile-transcript-{}.jsonl", process::id()));
    let codex =
        |payload: &str| format!("{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{payload}}}\n");
    let answer = "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"reasoning\"}}\n";
    let text =
        [codex("{}"), "[1]\n\"x\"\nnull\n{\n".to_owned(), codex("\"text\""), codex("[]"), answer.to_owned()]
            .concat();
    fs::write(&file, text).unwrap();
    let sessions = read_sessions(std::slice::from_ref(&file), None).unwrap().0;
    fs::remove_file(&file).unwrap();
    assert_eq!(sessions[0].len(), 1);
}
