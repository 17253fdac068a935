//! Replies as they are read from the golden streams of all dialects.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use spec::Dialect;
use translation::{Call, Delta, Part, Reasoning, Reply, ReplyError, ReplyReader, Stop, Usage};

const APIS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/apis");

/// Returns the golden files with an ending, with their dialects.
fn goldens(ending: &str) -> Vec<(&'static Dialect, PathBuf)> {
    let files =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let folders = spec::spoken().flat_map(|api| files(Path::new(APIS).join(api.name).join("goldens")));
    let mut goldens: Vec<_> = folders
        .filter_map(|folder| Some((spec::dialect(folder.file_name()?.to_str()?)?, folder)))
        .flat_map(|(dialect, folder)| files(folder).map(move |file| (dialect, file)))
        .filter(|(_, file)| file.extension().is_some_and(|own| own == ending))
        .collect();
    goldens.sort_by(|one, other| one.1.cmp(&other.1));
    goldens
}

fn golden(api: &str, name: &str) -> Reply {
    let (dialect, _) = name.split_once('/').unwrap();
    let bytes = fs::read(Path::new(APIS).join(api).join("goldens").join(format!("{name}.sse"))).unwrap();
    Reply::of_stream(spec::dialect(dialect).unwrap(), &bytes)
}

#[test]
fn replies_do_not_depend_on_how_bytes_are_cut() {
    for (dialect, file) in goldens("sse") {
        let bytes = fs::read(&file).unwrap();
        let mut reader = ReplyReader::new(dialect.api);
        let mut deltas: Vec<_> = bytes.chunks(1).flat_map(|byte| reader.push(byte)).collect();
        deltas.extend(reader.finish());
        let reply: Reply = deltas.into_iter().collect();
        assert_eq!(reply, Reply::of_stream(dialect, &bytes), "{}", file.display());
        // What a reply says is in its deltas.
        assert_eq!(reply.deltas().into_iter().collect::<Reply>(), reply, "{}", file.display());
    }
}

#[test]
fn a_stream_that_is_cut_has_not_ended() {
    for (dialect, file) in goldens("sse") {
        let bytes = fs::read(&file).unwrap();
        let whole = Reply::of_stream(dialect, &bytes);
        let ends: Vec<usize> = (1..bytes.len()).filter(|at| bytes[..*at].ends_with(b"\n\n")).collect();
        for end in ends.into_iter().filter(|end| *end < bytes.len()) {
            let cut = Reply::of_stream(dialect, &bytes[..end]);
            assert!(
                !cut.is_ended
                    || whole.is_ended && bytes[end..].trim_ascii().is_empty()
                    || has_tail(&bytes[end..])
            );
            // Only what was whole at once, in its terminal event, has fewer parts before.
            assert!(cut.parts.len() <= whole.parts.len(), "{}", file.display());
        }
    }
}

/// Returns whether only the marker follows, which is no end in APIs with a terminal event.
fn has_tail(rest: &[u8]) -> bool {
    rest.trim_ascii() == b"data: [DONE]"
}

#[test]
fn reasons_and_counts_are_those_of_all_apis() {
    let cut = golden("responses", "openai/incomplete");
    assert_eq!((cut.stop, cut.is_ended), (Some(Stop::Cut), true));
    let failed = golden("responses", "openai/failed");
    assert_eq!((failed.stop, failed.is_ended), (Some(Stop::Failed), true));
    assert!(failed.error.is_some_and(|error| !error.message.is_empty()));
    let stopped = golden("messages", "anthropic/stop-sequence");
    assert_eq!((stopped.stop, stopped.stopped_before.as_deref()), (Some(Stop::Sequence), Some("four")));
    let broken = golden("messages", "anthropic/error");
    let overloaded = ReplyError { class: "overloaded_error".into(), message: "Overloaded".into() };
    assert_eq!((broken.error, broken.is_ended), (Some(overloaded), false));
    assert_eq!(golden("chat", "chat/error").error.unwrap().class, "server_error");
    assert!(!golden("chat", "chat/error").is_ended);
    assert_eq!(golden("chat", "chat/forced-tool-call").stop, Some(Stop::Calls));
    assert_eq!(golden("chat", "chat/refusal").stop, Some(Stop::Refused));
    assert_eq!(golden("chat", "chat/content-filter").stop, Some(Stop::Filtered));
    let usage = golden("chat", "chat/usage").usage;
    assert_eq!(usage, Some(Usage { input: Some(11), cached: Some(0), output: Some(3), reasoning: Some(0) }));
}

#[test]
fn reasoning_has_its_seal() {
    let seals = |reply: Reply| -> Vec<(String, Option<String>, bool)> {
        let of = |part| {
            if let Part::Reasoning(it) = part { Some((it.text, it.seal, it.is_redacted)) } else { None }
        };
        reply.parts.into_iter().filter_map(of).collect()
    };
    let [(text, Some(seal), false)] = &seals(golden("messages", "anthropic/thinking"))[..] else {
        panic!("no seal")
    };
    assert!(text.ends_with("which is 42.") && seal.starts_with("EuQB"), "{text} {seal}");
    let redacted = seals(golden("messages", "anthropic/redacted-thinking"));
    assert_eq!(redacted.len(), 2);
    assert!(
        redacted.iter().all(|(text, seal, is_redacted)| text.is_empty() && seal.is_some() && *is_redacted)
    );
    let open = spec::dialect("openai").unwrap();
    let item = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2VhbA=="}"#;
    let stream =
        format!("data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\n");
    let part = Reasoning { id: Some("rs_1".into()), seal: Some("c2VhbA==".into()), ..Reasoning::default() };
    assert_eq!(Reply::of_stream(open, stream.as_bytes()).parts, [Part::Reasoning(part)]);
}

#[test]
fn bodies_are_read_like_streams() {
    for (dialect, file) in goldens("http") {
        let text = fs::read_to_string(&file).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").or_else(|| text.split_once("\n\n")).unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        let reply = Reply::read(dialect, Some("application/json"), status, body.as_bytes());
        assert!(
            reply.is_ended && (!reply.parts.is_empty() || reply.error.is_some()),
            "{}: {reply:?}",
            file.display()
        );
    }
    let weather =
        fs::read_to_string(Path::new(APIS).join("messages/goldens/anthropic/weather-body.http")).unwrap();
    let (_, body) = weather.split_once("\r\n\r\n").unwrap();
    let mut reply = Reply::of_body(spec::dialect("anthropic").unwrap(), 200, body.as_bytes());
    let call =
        Call { id: "toolu_1".into(), name: "get_weather".into(), arguments: r#"{"city":"Oslo"}"#.into() };
    assert_eq!(reply.parts.pop(), Some(Part::Call(call)));
    assert_eq!((reply.parts.len(), reply.stop), (2, Some(Stop::Calls)));
    assert_eq!(reply.usage.unwrap().input, Some(420));
}

#[test]
fn input_counts_include_what_was_cached() {
    let body = br#"{"type":"message","content":[],"stop_reason":"end_turn",
        "usage":{"input_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":11,"output_tokens":2}}"#;
    let usage = Reply::of_body(spec::dialect("anthropic").unwrap(), 200, body).usage;
    assert_eq!(usage, Some(Usage { input: Some(23), cached: Some(7), output: Some(2), reasoning: None }));
}

#[test]
fn interleaved_calls_and_texts_stay_apart() {
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
    let call = |index: u32, head: &str, text: &str| {
        chunk(&format!(r#"{{"tool_calls":[{{"index":{index},{head}"function":{{{text}}}}}]}}"#))
    };
    let stream = [
        chunk(r#"{"content":"a"}"#),
        chunk(r#"{"reasoning_content":"b"}"#),
        chunk(r#"{"content":"c"}"#),
        call(0, r#""id":"x","#, r#""name":"f","arguments":"{\"p\"""#),
        call(1, r#""id":"y","#, r#""name":"g","arguments":"{""#),
        call(0, "", r#""arguments":":1}""#),
        call(1, "", r#""arguments":"}""#),
        // Another choice is not read.
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"z\"}}]}\n\n".to_owned(),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n".into(),
    ];
    let reply = Reply::of_stream(spec::dialect("chat").unwrap(), stream.concat().as_bytes());
    let call = |id: &str, name: &str, arguments: &str| {
        Part::Call(Call { id: id.into(), name: name.into(), arguments: arguments.into() })
    };
    let thought = Part::Reasoning(Reasoning { text: "b".into(), ..Reasoning::default() });
    let parts = [
        Part::Text("a".into()),
        thought,
        Part::Text("c".into()),
        call("x", "f", r#"{"p":1}"#),
        call("y", "g", "{}"),
    ];
    assert_eq!(reply.parts, parts);
    assert!(reply.is_ended && reply.stop == Some(Stop::Calls));
}

#[test]
fn garbage_is_left_out() {
    let garbage: [&[u8]; 12] = [
        b"",
        b"\xff\xfe",
        b"null",
        b"[1]",
        b"data: [DONE]\n\n",
        b"data: {\n\ndata: 1\n\ndata: []\n\n",
        br#"{"error":"no"}"#,
        br#"{"choices":[null,1,{"message":[]}],"usage":7}"#,
        br#"{"output":[{"type":"message","content":[1]}],"status":"completed"}"#,
        br#"{"type":"message","content":[{"type":"tool_use"},1,null],"stop_reason":4}"#,
        b"data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":7}\n\n",
        b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":99,\"function\":{\"arguments\":\"a\"}}]}}]}\n\n",
    ];
    for dialect in ["openai", "anthropic", "chat"].map(|name| spec::dialect(name).unwrap()) {
        for bytes in garbage {
            for status in [200, 500] {
                for kind in [None, Some("text/event-stream; charset=utf-8"), Some("application/json")] {
                    let reply = Reply::read(dialect, kind, status, bytes);
                    let is_call = |part: &Part| matches!(part, Part::Call(call) if call.id.is_empty());
                    assert!(reply.parts.iter().all(is_call), "{} {reply:?}", dialect.name);
                }
            }
        }
        let plain = Reply::read(dialect, Some("text/plain"), 502, b"Bad Gateway\n");
        assert_eq!(plain.error.unwrap().message, "Bad Gateway");
        let detail = Reply::read(dialect, None, 422, br#"{"detail":[{"msg":"wrong"}]}"#);
        assert_eq!(detail.error.unwrap().message, r#"[{"msg":"wrong"}]"#);
    }
}

#[test]
fn calls_of_a_body_have_no_index() {
    let call = |id: &str| json!({"index": 0, "id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let reply = Reply::of_body(spec::dialect("chat").unwrap(), 200, body.to_string().as_bytes());
    let ids = reply
        .parts
        .iter()
        .filter_map(|part| if let Part::Call(call) = part { Some(&*call.id) } else { None });
    assert_eq!(ids.collect::<Vec<_>>(), ["a", "b"]);
}

/// Returns the reply of a stream whose events have these data.
fn stream(dialect: &str, events: &[&str]) -> Reply {
    let text: Vec<String> = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    Reply::of_stream(spec::dialect(dialect).unwrap(), text.concat().as_bytes())
}

#[test]
fn arguments_in_pieces_are_one_call() {
    let chunk = |call: &str, rest: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{call}}}]}}{rest}}}],"responseId":"r","modelVersion":"m"}}"#
        )
    };
    let events = [
        chunk(r#"{"name":"find","willContinue":true}"#, ""),
        chunk(
            r#"{"partialArgs":[{"jsonPath":"$.city","stringValue":"Par","willContinue":true}],"willContinue":true}"#,
            "",
        ),
        chunk(r#"{"partialArgs":[{"jsonPath":"$.city","stringValue":"is"}],"willContinue":true}"#, ""),
        chunk("{}", ""),
        chunk(r#"{"name":"tell","args":{"to":"me"}}"#, r#","finishReason":"STOP""#),
    ];
    let calls = |events: &[String]| -> Vec<String> {
        let reply = stream("gemini", &events.iter().map(String::as_str).collect::<Vec<_>>());
        let of = |part: &Part| {
            if let Part::Call(call) = part { Some(format!("{} {}", call.name, call.arguments)) } else { None }
        };
        reply.parts.iter().filter_map(of).collect()
    };
    assert_eq!(calls(&events), [r#"find {"city":"Paris"}"#, r#"tell {"to":"me"}"#]);
    // A call that is cut has no arguments.
    assert_eq!(calls(&events[..2]), ["find "]);
}

#[test]
fn an_item_is_known_by_its_id_where_its_index_is_wrong() {
    let reply = stream(
        "openai",
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_1","delta":"Five."}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Five."}]}}"#,
        ],
    );
    assert_eq!(reply.parts, [Part::Text("Five.".to_owned())]);
}

#[test]
fn a_number_as_a_string_is_the_number() {
    let reply = stream(
        "anthropic",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}"#,
            r#"{"type":"content_block_delta","index":"1","delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
            r#"{"type":"content_block_stop","index":"1"}"#,
        ],
    );
    let call = Call { id: "t".to_owned(), name: "n".to_owned(), arguments: "{\"a\":1}".to_owned() };
    assert_eq!(reply.parts, [Part::Call(call)]);
}

#[test]
fn an_event_with_the_members_of_its_response_concludes_once() {
    let event = r#"{"type":"response.completed","response":null,"status":"completed","output":[]}"#;
    let mut reader = ReplyReader::new(spec::dialect("openai").unwrap().api);
    let deltas = reader.event(None, event);
    assert_eq!(deltas.iter().filter(|delta| **delta == Delta::Ended).count(), 1, "{deltas:?}");
}

#[test]
fn only_the_first_choice_is_read() {
    let choice = |text: &str, reason: &str| json!({"message": {"content": text}, "finish_reason": reason});
    let body = json!({"choices": [choice("first", "stop"), choice("second", "length")]});
    let reply = Reply::of_body(spec::dialect("chat").unwrap(), 200, body.to_string().as_bytes());
    assert_eq!((reply.parts, reply.stop), (vec![Part::Text("first".to_owned())], Some(Stop::Ended)));
}

#[test]
fn input_that_is_no_object_is_none() {
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":"oops"}}"#;
    let reply = stream("anthropic", &[block, r#"{"type":"content_block_stop","index":0}"#]);
    let call = Call { id: "t".to_owned(), name: "n".to_owned(), arguments: "{}".to_owned() };
    assert_eq!(reply.parts, [Part::Call(call)]);
}

#[test]
fn calls_without_an_id_have_a_late_one_of_the_response() {
    let chunk = |part: &str, id: &str| {
        format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{part}]}}}}]{id}}}"#)
    };
    let [text, call] = [
        chunk(r#"{"text":"a"}"#, ""),
        chunk(r#"{"functionCall":{"name":"f","args":{}}}"#, r#","responseId":"late""#),
    ];
    let reply = stream("gemini", &[&text, &call]);
    let id = |part: &Part| if let Part::Call(call) = part { Some(call.id.clone()) } else { None };
    assert_eq!(reply.parts.iter().filter_map(id).collect::<Vec<_>>(), ["call_late_0"]);
}

#[test]
fn half_of_a_character_is_read_as_clients_do_and_nothing_else_that_is_no_json() {
    let body = |text: &str| format!(r#"{{"choices":[{{"message":{{"content":{text}}}}}]}}"#);
    let read = |text: &str| Reply::of_body(spec::dialect("chat").unwrap(), 200, body(text).as_bytes()).parts;
    assert_eq!(read(r#""a\ud83d""#), [Part::Text("a\u{fffd}".to_owned())]);
    let deep = format!("{}1{}", "[".repeat(150), "]".repeat(150));
    assert_eq!(read(&deep), []);
}
