//! What findings say: it is true of the recordings, and one defect is one finding.

use results::TestFinding;
use serde_json::{Value, json};

use super::Bench;
use super::bench::ask;

impl Bench {
    /// Changes the JSON of the last request to the upstream.
    fn send(&mut self, change: impl FnOnce(&mut Value)) {
        let api = self.test.upstream.api;
        let exchange = self.evidence.upstream.last_mut().expect("a request");
        let mut body = exchange.request(api).expect("JSON");
        change(&mut body);
        ask(exchange, api, body);
    }

    /// Returns the only finding.
    fn only(&self) -> TestFinding {
        let mut found = self.judge().findings;
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

#[test]
fn a_tool_in_a_foreign_form_is_invalid_and_not_lost() {
    let mut bench = Bench::new("chat", "messages", "call/one");
    bench.send(|body| {
        let tool = body["tools"][0].take();
        let parameters = &tool["input_schema"];
        body["tools"][0] =
            json!({"type": "function", "function": {"name": tool["name"], "parameters": parameters}});
    });
    let found = bench.only();
    assert_eq!(found.rule, "request/schema");
    assert_eq!(
        found.message,
        "/tools/*/type of the upstream's request is string \"function\", which Anthropic Messages does not have here"
    );
    assert!(found.upstream.contains("\"function\":{\"name\":\"get_weather\""), "{}", found.upstream);
}

#[test]
fn what_the_upstream_got_is_shown_as_it_was_sent() {
    let mut bench = Bench::new("messages", "chat", "call/one");
    bench.send(|body| {
        let function = body["tools"][0]["function"].as_object_mut().unwrap();
        let parameters = function.remove("parameters").unwrap();
        function.insert("input_schema".to_owned(), parameters);
    });
    let found = bench.only();
    assert_eq!((&*found.rule, &*found.kind), ("request/tools", "parameters: properties"));
    assert!(found.upstream.contains("\"input_schema\""), "{}", found.upstream);
}

#[test]
fn an_object_that_lacks_a_property_is_there() {
    let mut bench = Bench::new("chat", "messages", "call/forced");
    bench.send(|body| drop(body["tool_choice"].as_object_mut().unwrap().remove("name")));
    let found = bench.judge().findings;
    let schema = found.iter().find(|finding| finding.rule == "request/schema").expect("an invalid request");
    assert_eq!(schema.message, "/tool_choice of the upstream's request lacks property \"name\"");
    assert!(!schema.message.contains("is none"));
}

#[test]
fn a_request_without_the_mark_is_one() {
    let mut bench = Bench::new("messages", "chat", "text/plain");
    bench.evidence.upstream.clear();
    assert!(bench.only().message.ends_with("without a request to the upstream"));
    bench.evidence.unmarked = 1;
    let found = bench.only();
    assert_eq!((&*found.rule, &*found.kind), ("answer/kind", "mark lost"));
    assert!(found.message.ends_with("1 request without a mark came at the same time"), "{}", found.message);
}

#[test]
fn a_budget_of_reasoning_is_no_effort_that_was_sent() {
    let mut bench = Bench::new("messages", "chat", "request/effort");
    let exchange = &mut bench.evidence.client[0];
    let mut body = exchange.request(bench.test.front.api).unwrap();
    body["output_config"].as_object_mut().unwrap().remove("effort");
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    exchange.body = body.to_string().into_bytes();
    bench.ask(|question| question.effort = None);
    let found = bench.only();
    assert_eq!(found.rule, "request/reasoning");
    assert_eq!(found.message, "the effort is missing, the client's budget of 1024 tokens stands for \"low\"");
    assert_eq!(found.client, "budget_tokens: 1024");
}

#[test]
fn all_that_an_object_lacks_is_one_finding_and_what_breaks_clients_comes_first() {
    let mut bench = Bench::new("responses", "chat", "text/plain");
    let (_, last) = bench.client().pieces.last_mut().expect("an event");
    let text = String::from_utf8_lossy(last).into_owned();
    let (head, data) = text.split_once("data: ").expect("data");
    let mut event: Value = serde_json::from_str(data).expect("JSON");
    for name in ["created_at", "metadata", "output"] {
        event["response"].as_object_mut().unwrap().remove(name).expect(name);
    }
    *last = format!("{head}data: {event}\n\n").into_bytes();
    let found = bench.judge().findings;
    let lacks: Vec<_> = found.iter().filter(|finding| finding.message.contains("lacks")).collect();
    let [lacks] = *lacks else { panic!("one finding: {found:?}") };
    let places = ["output", "created_at", "metadata"].map(|name| lacks.message.find(name));
    assert!(places.iter().all(Option::is_some) && places[0] < places[1], "{}", lacks.message);
    assert!(!lacks.breaks.is_empty());
}

#[test]
fn reasoning_that_never_comes_is_not_late() {
    let mut bench = Bench::new("messages", "chat", "time/reasoning");
    bench.client().pieces.retain(|(_, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        let parts =
            ["\"thinking\"", "thinking_delta", "signature_delta", "\"content_block_stop\",\"index\":0"];
        parts.iter().all(|part| !text.contains(part))
    });
    bench.client().pieces.iter_mut().for_each(|(_, bytes)| {
        *bytes = String::from_utf8_lossy(bytes).replace("\"index\":1", "\"index\":0").into_bytes();
    });
    assert_eq!(bench.only().rule, "answer/reasoning");
}

#[test]
fn calls_at_one_index_are_no_lost_call() {
    let mut bench = Bench::new("messages", "chat", "call/several");
    bench.client().pieces.iter_mut().for_each(|(_, bytes)| {
        *bytes = String::from_utf8_lossy(bytes).replace("\"index\":1", "\"index\":0").into_bytes();
    });
    let rules: Vec<String> = bench.found().into_iter().map(|(rule, _)| rule).collect();
    assert!(rules.contains(&"block/reopened".to_owned()), "{rules:?}");
    assert!(rules.iter().all(|rule| !rule.starts_with("answer/")), "{rules:?}");
}

#[test]
fn a_wrong_end_is_one_finding() {
    let mut bench = Bench::new("messages", "chat", "stop/filter");
    bench.replace("\"stop_reason\":\"refusal\"", "\"stop_reason\":\"stop_sequence\"");
    assert_eq!(bench.only().rule, "answer/stop");
}

#[test]
fn a_filter_that_looks_like_an_end_is_found() {
    let completed = [
        ("response.incomplete", "response.completed"),
        ("\"status\":\"incomplete\"", "\"status\":\"completed\""),
        ("{\"reason\":\"content_filter\"}", "null"),
    ];
    let stopped = [("\"SAFETY\"", "\"STOP\"")];
    for (front, upstream, changes) in [
        ("responses", "chat", &completed[..]),
        ("responses", "messages", &completed),
        ("gemini", "chat", &stopped),
        ("gemini", "responses", &stopped),
        ("chat", "messages", &[("\"content_filter\"", "\"stop\"")]),
    ] {
        let mut bench = Bench::new(front, upstream, "stop/filter");
        for (from, to) in changes {
            bench.replace(from, to);
        }
        let found = bench.judge().findings.remove(0);
        assert_eq!(found.rule, "answer/stop", "{front}-{upstream}");
        let word = changes.last().filter(|_| front != "responses").map_or("\"incomplete\"", |(word, _)| word);
        assert!(found.message.contains(word), "{}", found.message);
    }
}

#[test]
fn a_limit_excuses_refusals_of_what_it_is_about_alone() {
    let refused = |case: &str| {
        let mut bench = Bench::new("messages", "responses", case);
        bench.evidence.upstream.clear();
        bench.client().status = 400;
        let body = br#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#;
        bench.client().pieces = vec![(std::time::Duration::from_millis(5), body.to_vec())];
        bench.client().headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        bench.judge()
    };
    let stops = refused("request/stops");
    assert_eq!((stops.findings.len(), stops.limits.len()), (0, 1), "{stops:?}");
    let call = refused("call/one");
    assert_eq!(call.findings[0].rule, "answer/kind");
    assert_eq!(call.limits, Vec::<[String; 2]>::new());
}

#[test]
fn a_failed_output_keeps_its_text() {
    let with = |content: &str| {
        let mut bench = Bench::new("messages", "chat", "call/failed-result");
        bench.send(|body| {
            let messages = body["messages"].as_array_mut().unwrap();
            let output = messages.iter_mut().find(|message| message["role"] == "tool").unwrap();
            output["content"] = json!(content);
        });
        bench
    };
    let lost = with("").only();
    assert_eq!((&*lost.rule, &*lost.kind), ("request/results", "output"));
    for told in ["no such station", "Error: no such station"] {
        assert_eq!(with(told).found(), [], "{told}");
    }
}

#[test]
fn an_output_stands_right_behind_its_call() {
    let mut bench = Bench::new("messages", "chat", "call/failed-result");
    bench.send(|body| {
        let messages = body["messages"].as_array_mut().unwrap();
        let output = messages.iter().position(|message| message["role"] == "tool").unwrap();
        messages.swap(output, output + 1);
    });
    let found = bench.only();
    assert_eq!((&*found.rule, &*found.kind), ("request/results", "behind a text"));
}
