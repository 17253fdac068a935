//! Damaged streams have findings at the level that fits their effect.

use catalogue::Level;
use conformance::capture::{End, Exchange, Recorder, Request};
use conformance::{Checker, Rules, check, goldens};

/// Frames of a golden of OpenAI's dialect.
struct Stream(Vec<String>);

impl Stream {
    fn of(name: &str) -> Self {
        let id = format!("openai/{name}");
        let bytes = goldens::golden(&id).unwrap_or_else(|| panic!("{id}")).bytes;
        let text = std::str::from_utf8(bytes).expect("text");
        Self(text.split_inclusive("\n\n").map(str::to_owned).collect())
    }

    fn is(frame: &str, name: &str) -> bool {
        frame.starts_with(&format!("event: {name}\n"))
    }

    /// Returns the stream without the events of these types.
    fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|frame| !names.iter().any(|name| Self::is(frame, name)));
        self
    }

    /// Returns the stream with a text replaced in the events of a type.
    fn with(mut self, name: &str, from: &str, to: &str) -> Self {
        for frame in self.0.iter_mut().filter(|frame| Self::is(frame, name)) {
            assert!(frame.contains(from), "{from} in {frame}");
            *frame = frame.replace(from, to);
        }
        self
    }

    /// Returns the stream with a text replaced in all events.
    fn everywhere(mut self, from: &str, to: &str) -> Self {
        for frame in &mut self.0 {
            *frame = frame.replace(from, to);
        }
        self
    }

    /// Returns the stream with a frame inserted after the first one of a type.
    fn and(mut self, name: &str, frame: &str) -> Self {
        let at = self.0.iter().position(|frame| Self::is(frame, name)).expect("the event");
        self.0.insert(at + 1, frame.to_owned());
        self
    }

    /// Returns the stream with its events numbered from 0.
    fn text(&self) -> String {
        let mut next = 0;
        let renumbered = self.0.iter().map(|frame| match frame.rsplit_once("\"sequence_number\":") {
            Some((head, tail)) => {
                next += 1;
                let tail = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
                format!("{head}\"sequence_number\":{}{tail}", next - 1)
            }
            None => frame.clone(),
        });
        renumbered.collect()
    }

    /// Asserts that the worst finding has this level and rule.
    #[track_caller]
    fn breaks(&self, level: Level, rule: &str) {
        let mut checker = Checker::new(spec::dialect("openai").expect("the dialect"));
        checker.push(self.text().as_bytes());
        checker.finish();
        let found: Vec<_> =
            checker.findings().iter().map(|finding| (finding.level, &*finding.rule)).collect();
        assert!(found.contains(&(level, rule)), "{found:?}");
        assert!(found.iter().all(|(other, _)| *other <= level), "{found:?}");
    }
}

const ADDED: &str = "response.output_item.added";
const DONE: &str = "response.output_item.done";
const COMPLETED: &str = "response.completed";

/// Returns the findings in a recording with the stream as the response to a request.
fn recorded(stream: &str, method: &str) -> Vec<(Level, String)> {
    let recorder = Recorder::new();
    let exchange = Exchange {
        status: Some(200),
        headers: vec![("content-type".into(), "text/event-stream".into())],
        request: Some(Request {
            method: method.to_owned().into(),
            url: "https://gateway.test/v1/responses".into(),
            ..Request::default()
        }),
        ..Exchange::default()
    };
    let recording = recorder.begin(&exchange)
        + &recorder.chunk(std::time::Duration::ZERO, stream.as_bytes())
        + &recorder.end(std::time::Duration::ZERO, End::Closed);
    let rules = Rules::of(spec::dialect("openai").expect("the dialect"));
    let report = check("a", &mut recording.as_bytes(), None, &rules);
    report.findings.into_iter().map(|finding| (finding.level, finding.rule.into_owned())).collect()
}

#[test]
fn a_response_that_was_never_created() {
    let late = Stream::of("text").0.split_off(1).concat();
    let first = |found: Vec<(Level, String)>| found.into_iter().next();
    let rule = || "response/created-first".to_owned();
    assert_eq!(first(recorded(&late, "POST")), Some((Level::Must, rule())));
    assert_eq!(recorded(&late, "GET"), []);
    let mut checker = Checker::new(spec::dialect("openai").expect("the dialect"));
    checker.push(late.as_bytes());
    checker.finish();
    assert_eq!(checker.findings().len(), 1, "{:#?}", checker.findings());
    assert_eq!(
        (checker.findings()[0].level, &*checker.findings()[0].rule),
        (Level::May, "response/created-first")
    );
    // A client that has received the first events requests the rest.
    let later = Stream::of("text").0.split_off(2).concat();
    checker.reset();
    checker.push(later.as_bytes());
    checker.finish();
    assert_eq!(checker.findings(), []);
    assert_eq!(first(recorded(&later, "post")), Some((Level::Must, rule())));
}

#[test]
fn function_calls_that_are_not_streamed() {
    let stream = Stream::of("function-call");
    let silent =
        stream.without(&["response.function_call_arguments.delta", "response.function_call_arguments.done"]);
    silent.breaks(Level::Should, "call/arguments-streamed");
}

#[test]
fn items_that_are_done_and_are_not() {
    let stuck = |name: &str| {
        let status = ("\"status\":\"completed\"", "\"status\":\"in_progress\"");
        Stream::of(name).with(DONE, status.0, status.1)
    };
    let also = |stream: Stream, kind: &str| {
        let from = format!("\"type\":\"{kind}\",\"status\":\"completed\"");
        let to = format!("\"type\":\"{kind}\",\"status\":\"in_progress\"");
        stream.with(COMPLETED, &from, &to)
    };
    also(stuck("text"), "message").breaks(Level::Must, "item/finished");
    also(stuck("function-call"), "function_call").breaks(Level::Should, "item/finished");
}

#[test]
fn content_that_is_lost() {
    let part = r#"{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello, world."}"#;
    let empty = || Stream::of("text").with(DONE, part, "");
    empty().with(COMPLETED, part, "").breaks(Level::Must, "item/content-kept");
    Stream::of("text").with(COMPLETED, part, "").breaks(Level::Must, "output/text-kept");
}

#[test]
fn an_output_that_no_event_announced() {
    let mut stream = Stream::of("text");
    stream.0.retain(|frame| Stream::is(frame, "response.created") || Stream::is(frame, COMPLETED));
    let names: Vec<_> = stream.0.iter().map(|frame| frame.lines().next().unwrap_or_default()).collect();
    assert_eq!(names, ["event: response.created", "event: response.completed"]);
    stream.breaks(Level::Must, "output/items-streamed");
}

#[test]
fn events_without_a_type_or_of_an_unknown_one() {
    let untyped = Stream::of("text").and("response.in_progress", "data: {\"sequence_number\":0}\n\n");
    untyped.breaks(Level::Must, "schema/event-typed");
    let event =
        |name: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":0}}\n\n");
    let unknown = |name: &str| Stream::of("text").and("response.in_progress", &event(name));
    unknown("response.output_text.chunk").breaks(Level::Should, "schema/event-known");
    unknown("acme.trace").breaks(Level::May, "schema/event-known");
}

#[test]
fn hosted_tools_without_phases() {
    let names =
        ["in_progress", "searching", "completed"].map(|phase| format!("response.file_search_call.{phase}"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Stream::of("file-search").without(&names).breaks(Level::Should, "tool/has-phases");
}

#[test]
fn a_page_between_two_events() {
    let page = "<html><body>502 Bad Gateway</body></html>\n\n";
    Stream::of("text").and("response.output_text.delta", page).breaks(Level::Should, "wire/known-fields");
}

#[test]
fn text_that_costs_nothing() {
    let usage = |name: &str, from: u64, to: u64| (format!("\"{name}\":{from}"), format!("\"{name}\":{to}"));
    let (output, total) = (usage("output_tokens", 4, 0), usage("total_tokens", 24, 20));
    let stream = Stream::of("text").with(COMPLETED, &output.0, &output.1).with(COMPLETED, &total.0, &total.1);
    stream.breaks(Level::Should, "response/usage-counts-text");
}

#[test]
fn calls_that_cannot_be_answered() {
    for (from, to) in [("\"call_1\"", "\"call_9\""), ("\"get_weather\"", "\"get_wealth\"")] {
        Stream::of("function-call").with(ADDED, from, to).breaks(Level::Must, "call/identity-kept");
    }
    let alike = Stream::of("parallel-function-calls").everywhere("\"call_2\"", "\"call_1\"");
    alike.breaks(Level::Must, "call/id-unique");
}

#[test]
fn items_that_are_never_done() {
    for name in ["text", "function-call", "custom-tool"] {
        Stream::of(name).without(&[DONE]).breaks(Level::Must, "item/never-closed");
    }
    Stream::of("web-search");
    let mut listed = Stream::of("mcp-call");
    let at = listed.0.iter().position(|frame| Stream::is(frame, DONE)).expect("the end of the list");
    listed.0.remove(at);
    listed.breaks(Level::Should, "item/never-closed");
}

#[test]
fn times_that_were_redacted() {
    let half = || Stream::of("text").everywhere(":1785000000", ":0");
    half().everywhere(":1785000002", ":0").breaks(Level::May, "response/times-in-seconds");
    half().breaks(Level::Must, "response/times-in-seconds");
}

#[test]
fn types_that_are_echoed() {
    let stream = Stream::of("text").everywhere("\"tools\":[]", "\"tools\":[{\"type\":\"x_search\"}]");
    stream.breaks(Level::May, "schema/type-known");
}

#[test]
fn an_error_that_nothing_follows() {
    let mut stream = Stream::of("text");
    stream.0.pop();
    stream.0.push(
        "event: error\ndata: {\"type\":\"error\",\"code\":null,\"message\":\"gone\",\"param\":null,\"sequence_number\":9}\n\n"
            .to_owned(),
    );
    stream.breaks(Level::Should, "error/followed-by-failed");
}

#[test]
fn events_that_address_an_item_with_an_empty_id() {
    for (name, event, id) in [
        ("text", "response.output_text.delta", "msg_1"),
        ("function-call", "response.function_call_arguments.delta", "fc_1"),
        ("reasoning-summary", "response.reasoning_summary_text.done", "rs_1"),
        ("web-search", "response.web_search_call.searching", "ws_1"),
    ] {
        let stream = Stream::of(name).with(event, &format!("\"item_id\":\"{id}\""), "\"item_id\":\"\"");
        stream.breaks(Level::Must, "item/key-mismatch");
    }
    Stream::of("text").with(COMPLETED, "\"msg_1\"", "\"\"").breaks(Level::Must, "output/ids-kept");
}

#[test]
fn values_that_no_delta_brought() {
    for (name, deltas, rule) in [
        ("custom-tool", "response.custom_tool_call_input.delta", "call/has-deltas"),
        ("mcp-call", "response.mcp_call_arguments.delta", "call/has-deltas"),
        ("code-interpreter", "response.code_interpreter_call_code.delta", "call/has-deltas"),
        ("reasoning-summary", "response.reasoning_summary_text.delta", "text/has-deltas"),
        ("reasoning-text", "response.reasoning_text.delta", "text/has-deltas"),
    ] {
        Stream::of(name).without(&[deltas]).breaks(Level::Should, rule);
    }
}

#[test]
fn input_that_is_there_before_its_deltas() {
    let early = Stream::of("custom-tool").with(ADDED, "\"input\":\"\"", "\"input\":\"ls\"");
    early.breaks(Level::Must, "item/starts-empty");
}

#[test]
fn actions_that_differ_in_the_end() {
    for (name, from, to) in
        [("shell-call", "\"call_1\"", "\"call_9\""), ("apply-patch", "\"call_1\"", "\"call_9\"")]
    {
        Stream::of(name).with(COMPLETED, from, to).breaks(Level::Must, "output/equals-items");
    }
}

#[test]
fn severe_findings_about_a_value_that_has_a_mild_one() {
    let total = Stream::of("text").with(COMPLETED, "\"total_tokens\":24", "\"total_tokens\":-24");
    total.breaks(Level::Must, "response/usage-details-within");
}

#[test]
fn incomplete_responses_without_a_reason() {
    let details = "{\"reason\":\"max_output_tokens\"}";
    let ends = |to: &str| Stream::of("incomplete").with("response.incomplete", details, to);
    ends("null").breaks(Level::Must, "response/incomplete-details-agree");
    ends("{}").breaks(Level::Should, "response/incomplete-reason-known");
    let complete = Stream::of("text").with(
        COMPLETED,
        "\"incomplete_details\":null",
        "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}",
    );
    complete.breaks(Level::Should, "response/incomplete-details-agree");
}

#[test]
fn encrypted_content_that_is_lost() {
    let lost = |to: &str| {
        let mut stream = Stream::of("reasoning-summary");
        let reasoning = "\"type\":\"reasoning\",";
        for frame in
            stream.0.iter_mut().filter(|frame| Stream::is(frame, DONE) || Stream::is(frame, COMPLETED))
        {
            let content = if Stream::is(frame, COMPLETED) { to } else { "\"encrypted_content\":\"gAAA\"," };
            *frame = frame.replace(reasoning, &format!("{reasoning}{content}"));
        }
        stream
    };
    for to in ["", "\"encrypted_content\":null,", "\"encrypted_content\":\"\","] {
        lost(to).breaks(Level::Should, "output/equals-items");
    }
}

#[test]
fn characters_that_are_lost_and_escaped() {
    let stream = Stream::of("text").everywhere("ld.", "l\\ufffd.");
    stream.breaks(Level::May, "wire/no-replacement-character");
    let stream = stream.everywhere("l\\ufffd.", "l\\\\ufffd.");
    assert_eq!(recorded(&stream.text(), "POST"), []);
}

#[test]
fn streams_of_other_apis() {
    for stream in [
        "event: thread.run.created\ndata: {\"id\":\"run_1\",\"object\":\"thread.run\"}\n\n",
        "data: {\"type\":\"session.created\",\"session\":{}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ] {
        let found = recorded(stream, "POST");
        assert_eq!(found, [(Level::Must, "schema/foreign-protocol".to_owned())], "{stream}");
    }
}
