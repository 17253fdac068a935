//! A naive gateway with typical mistakes: the results of a first run against it, for all of them, for all but one, and
//! for each alone.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use crate::program::{bare, folder, outcome, path};
use crate::server::{Request, Server, answer};

/// The mistakes, with the rule that each breaks, in the order in which to mend them: by layer, then those that break
/// most clients.
const MISTAKES: [(Mistake, &str); 9] = [
    (Mistake::ErrorUnderSuccess, "error/not-under-200"),
    (Mistake::NoSequenceNumber, "sequence/present"),
    (Mistake::WrongItemId, "item/key-mismatch"),
    (Mistake::NoPartAdded, "part/before-open"),
    (Mistake::NoFinalOutput, "output/text-kept"),
    (Mistake::NoArgumentDeltas, "call/has-deltas"),
    (Mistake::OneIdForAll, "item/id-unique"),
    (Mistake::NoFinalText, "schema/event-valid"),
    (Mistake::UnknownEvent, "schema/event-known"),
];

/// The mistakes of a gateway that was made from memory of Chat Completions, with the rule that each breaks.
const FROM_MEMORY: [(Mistake, &str); 5] = [
    (Mistake::PlainText, "wire/event-stream-content-type"),
    (Mistake::BareError, "error/body-shape"),
    (Mistake::FewMembers, "schema/event-valid"),
    (Mistake::FewMembersOfParts, "schema/event-valid"),
    (Mistake::UsageOfChat, "schema/event-valid"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mistake {
    NoFinalOutput,
    WrongItemId,
    NoPartAdded,
    UnknownEvent,
    NoSequenceNumber,
    NoArgumentDeltas,
    NoFinalText,
    ErrorUnderSuccess,
    OneIdForAll,
    /// Streams of the type `text/plain`.
    PlainText,
    /// `{"error": "invalid"}`.
    BareError,
    /// Responses without most members.
    FewMembers,
    /// Parts without annotations and log probabilities.
    FewMembersOfParts,
    /// Usage under the names of Chat Completions.
    UsageOfChat,
    /// `[DONE]` where the dialect has none: it is allowed.
    DoneMarker,
}

/// The mistakes of the gateway, and the ids that it generates.
struct Gateway {
    mistakes: BTreeSet<Mistake>,
    ids: AtomicU64,
}

impl Gateway {
    fn serve(mistakes: impl IntoIterator<Item = Mistake>) -> Server {
        let gateway = Self { mistakes: mistakes.into_iter().collect(), ids: AtomicU64::new(1) };
        Server::new(move |request, stream| gateway.answer(request, stream))
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_{:032x}", self.ids.fetch_add(1, Ordering::SeqCst).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn answer(&self, request: &Request, stream: &mut TcpStream) {
        let asked: Map<String, Value> = serde_json::from_str(&request.body).unwrap_or_default();
        let tools = asked.get("tools").and_then(Value::as_array).into_iter().flatten();
        let has_foreign_tool =
            tools.clone().any(|tool| tool["type"] != "function" && tool["type"] != "custom");
        let is_input = |input: &Value| input.is_string() || input.is_array();
        if !asked.get("input").is_some_and(is_input) || has_foreign_tool {
            let status = if self.has(Mistake::ErrorUnderSuccess) { "200 OK" } else { "400 Bad Request" };
            let error =
                json!({ "message": "invalid", "type": "invalid_request_error", "param": null, "code": null });
            let error = if self.has(Mistake::BareError) { json!("invalid") } else { error };
            return answer(stream, status, "application/json", json!({ "error": error }).to_string());
        }
        let events = self.events(&asked);
        if !request.wants_stream() {
            let response = events.last().map(|event| event["response"].to_string()).unwrap_or_default();
            return answer(stream, "200 OK", "application/json", response);
        }
        let frame =
            |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or(""));
        let mut body: String = events.iter().map(frame).collect();
        if self.has(Mistake::DoneMarker) {
            body += "data: [DONE]\n\n";
        }
        let content_type = if self.has(Mistake::PlainText) { "text/plain" } else { "text/event-stream" };
        answer(stream, "200 OK", content_type, body);
    }

    fn events(&self, asked: &Map<String, Value>) -> Vec<Value> {
        let response = self.response(asked);
        let id = response["id"].as_str().unwrap_or_default().to_owned();
        let mut events = Vec::new();
        let mut send = |kind: &str, mut event: Value| {
            event["type"] = kind.into();
            if !self.has(Mistake::NoSequenceNumber) {
                event["sequence_number"] = events.len().into();
            }
            events.push(event);
        };
        send("response.created", json!({ "response": response }));
        send("response.in_progress", json!({ "response": response }));
        if self.has(Mistake::UnknownEvent) {
            send("response.heartbeat", json!({}));
        }
        let shared = self.id("item");
        let tools = asked.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
        let is_answered = asked["input"].to_string().contains("function_call_output");
        let mut output = Vec::new();
        if tools == 0 || is_answered || asked.get("tool_choice").is_some_and(|choice| choice == "none") {
            let item = if self.has(Mistake::OneIdForAll) { shared } else { self.id("msg") };
            output.push(self.message(&item, &id, &mut send));
        } else {
            let calls = if asked["input"].to_string().contains("both") { 2 } else { 1 };
            for index in 0..calls {
                let item = if self.has(Mistake::OneIdForAll) { shared.clone() } else { self.id("fc") };
                output.push(self.call(index, &item, &asked["tools"][0], &mut send));
            }
        }
        let mut last = response;
        last["status"] = "completed".into();
        last["completed_at"] = 1_785_000_001.into();
        last["usage"] = json!({
            "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
            "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
        });
        if self.has(Mistake::UsageOfChat) {
            last["usage"] = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
        }
        last["output"] = if self.has(Mistake::NoFinalOutput) { json!([]) } else { output.into() };
        send("response.completed", json!({ "response": last }));
        events
    }

    fn message(&self, id: &str, response: &str, send: &mut impl FnMut(&str, Value)) -> Value {
        const DELTAS: [&str; 3] = ["Hello ", "there, ", "world!"];
        let text = DELTAS.concat();
        let mut item = json!({ "id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": [] });
        send("response.output_item.added", json!({ "output_index": 0, "item": item }));
        let place = |item: &str| json!({ "item_id": item, "output_index": 0, "content_index": 0 });
        let with = |mut event: Value, name: &str, value: Value| {
            event[name] = value;
            event
        };
        let has_few = self.has(Mistake::FewMembersOfParts);
        let part = |text: &str| {
            if has_few {
                return json!({ "type": "output_text", "text": text });
            }
            json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
        };
        if !self.has(Mistake::NoPartAdded) {
            send("response.content_part.added", with(place(id), "part", part("")));
        }
        let named = if self.has(Mistake::WrongItemId) { response } else { id };
        for delta in DELTAS {
            let event = with(place(named), "delta", delta.into());
            send("response.output_text.delta", with(event, "logprobs", json!([])));
        }
        let mut done = with(place(id), "logprobs", json!([]));
        if !self.has(Mistake::NoFinalText) {
            done["text"] = text.as_str().into();
        }
        send("response.output_text.done", done);
        send("response.content_part.done", with(place(id), "part", part(&text)));
        item["status"] = "completed".into();
        item["content"] = json!([part(&text)]);
        send("response.output_item.done", json!({ "output_index": 0, "item": item }));
        item
    }

    fn call(&self, index: usize, id: &str, tool: &Value, send: &mut impl FnMut(&str, Value)) -> Value {
        // In the scenarios that are run, each property is a text or the first of the listed ones.
        let properties = tool["parameters"]["properties"].as_object().into_iter().flatten();
        let value = |schema: &Value| schema["enum"].get(0).cloned().unwrap_or_else(|| "Paris".into());
        let arguments: Map<String, Value> =
            properties.map(|(name, schema)| (name.clone(), value(schema))).collect();
        let (name, arguments) = (&tool["name"], Value::from(arguments).to_string());
        let mut item = json!({
            "id": id, "type": "function_call", "status": "in_progress", "name": name, "call_id": self.id("call"),
            "arguments": "",
        });
        send("response.output_item.added", json!({ "output_index": index, "item": item }));
        if !self.has(Mistake::NoArgumentDeltas) {
            let delta = json!({ "item_id": id, "output_index": index, "delta": arguments });
            send("response.function_call_arguments.delta", delta);
        }
        let done = json!({ "item_id": id, "output_index": index, "name": name, "arguments": arguments });
        send("response.function_call_arguments.done", done);
        item["status"] = "completed".into();
        item["arguments"] = arguments.into();
        send("response.output_item.done", json!({ "output_index": index, "item": item }));
        item
    }

    fn response(&self, asked: &Map<String, Value>) -> Value {
        let asked = |name: &str, usual: Value| {
            asked.get(name).cloned().filter(|value| !value.is_null()).unwrap_or(usual)
        };
        if self.has(Mistake::FewMembers) {
            return json!({
                "id": self.id("resp"), "object": "response", "created_at": 1_785_000_000, "status": "in_progress",
                "model": asked("model", "m".into()), "output": [],
            });
        }
        json!({
            "id": self.id("resp"), "object": "response", "created_at": 1_785_000_000, "status": "in_progress",
            "background": false, "error": null, "incomplete_details": null,
            "instructions": asked("instructions", Value::Null), "model": asked("model", "m".into()), "output": [],
            "max_output_tokens": asked("max_output_tokens", Value::Null),
            "max_tool_calls": asked("max_tool_calls", Value::Null),
            "parallel_tool_calls": asked("parallel_tool_calls", true.into()),
            "previous_response_id": null, "prompt_cache_key": null, "reasoning": { "effort": null, "summary": null },
            "safety_identifier": null, "service_tier": "default", "store": asked("store", true.into()),
            "temperature": asked("temperature", json!(1.0)), "presence_penalty": 0.0, "frequency_penalty": 0.0,
            "text": asked("text", json!({ "format": { "type": "text" }, "verbosity": "medium" })),
            "tool_choice": asked("tool_choice", "auto".into()), "tools": asked("tools", json!([])),
            "top_logprobs": 0, "top_p": asked("top_p", json!(1.0)),
            "truncation": asked("truncation", "disabled".into()), "usage": null, "user": null, "metadata": {},
        })
    }
}

/// Runs a few scenarios. Returns the output, and the rules of the causes in order.
fn run(name: &str, mistakes: impl IntoIterator<Item = Mistake>, filters: &[&str]) -> (String, Vec<String>) {
    let server = Gateway::serve(mistakes);
    let out = folder(name);
    let features = "tools,parallel-tool-calls";
    let wanted = ["--api", "responses", "--target", &server.url, "--features", features, "--out", path(&out)];
    let outcome = outcome(&mut bare(&[&wanted, filters].concat()));
    let report = std::fs::read_to_string(out.join("report.json")).expect("the run is kept");
    let report: Value = serde_json::from_str(&report).expect("it is JSON");
    assert_eq!(report["totals"]["trials"]["harness_errors"], 0, "{}", outcome.stdout);
    assert_ne!(report["totals"]["streams"].as_u64().zip(report["totals"]["bodies"].as_u64()), Some((0, 0)));
    let causes = report["causes"].as_array().expect("it has causes").iter();
    let causes = causes.filter(|cause| cause["follows_from"].is_null());
    let rules = causes.map(|cause| cause["rule"].as_str().unwrap_or_default().to_owned()).collect();
    (outcome.stdout, rules)
}

#[test]
fn a_first_run_shows_each_cause_once_in_the_order_of_its_harm() {
    let all = MISTAKES.iter().map(|(mistake, _)| *mistake).chain([Mistake::DoneMarker]);
    let (told, rules) = run("mistakes/all", all, &[]);
    let lines = told.lines().count();
    assert!(lines <= 150, "{lines} lines:\n{told}");
    assert!(rules.len() <= MISTAKES.len() + 2, "{rules:?}\n{told}");
    let expected: Vec<&str> = MISTAKES.iter().map(|(_, rule)| *rule).collect();
    let found: Vec<&str> = rules.iter().map(String::as_str).filter(|rule| expected.contains(rule)).collect();
    assert_eq!(found, expected, "{told}");
    for rule in expected {
        assert_eq!(told.matches(&format!("[{rule}]: ")).count(), 1, "{rule} has one block:\n{told}");
    }
    assert_eq!(told.matches(" = fix: ").count(), rules.len(), "{told}");
}

#[test]
fn no_more_causes_than_mistakes_and_two_are_shown() {
    let all: BTreeSet<Mistake> = MISTAKES.iter().chain(&FROM_MEMORY).map(|(mistake, _)| *mistake).collect();
    let mut states = vec![all.clone(), FROM_MEMORY.map(|(mistake, _)| mistake).into()];
    states.extend(all.iter().map(|mended| all.iter().copied().filter(|one| one != mended).collect()));
    for (number, state) in states.into_iter().enumerate() {
        let filters = ["text/hello", "call/parallel", "error/malformed"];
        let (told, rules) = run(&format!("mistakes/state-{number}"), state.clone(), &filters);
        assert!(rules.len() <= state.len() + 2, "{state:?}: {rules:?}\n{told}");
        if state.contains(&Mistake::PlainText) {
            let first = rules.iter().find(|rule| *rule != "error/not-under-200");
            assert_eq!(first.map(String::as_str), Some("wire/event-stream-content-type"), "{told}");
        }
    }
}

#[test]
fn values_and_names_are_advised() {
    let (told, _) = run("mistakes/usage", [Mistake::UsageOfChat, Mistake::FewMembers], &["text/hello"]);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for advice in [
        "\"error\": null, \"incomplete_details\": null,",
        "prompt_tokens is the name of input_tokens in Chat Completions",
    ] {
        assert!(told.contains(advice), "{advice}:\n{told}");
    }
}

#[test]
fn a_mistake_alone_has_one_cause() {
    for (mistake, rule) in MISTAKES.into_iter().chain(FROM_MEMORY) {
        let filter = match mistake {
            Mistake::NoArgumentDeltas | Mistake::OneIdForAll => "call/parallel",
            Mistake::ErrorUnderSuccess | Mistake::BareError => "error/malformed",
            _ => "text/hello",
        };
        let (told, rules) = run(&format!("mistakes/{mistake:?}"), [mistake], &[filter]);
        assert_eq!(rules, [rule], "{mistake:?}:\n{told}");
    }
}

#[test]
fn what_is_not_wrong_has_no_cause() {
    for filter in ["text/hello", "call/parallel"] {
        let (told, rules) = run("mistakes/none", [Mistake::DoneMarker], &[filter]);
        assert_eq!(rules, [""; 0], "{told}");
    }
}
