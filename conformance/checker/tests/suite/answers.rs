//! The content of a response is the same in the deltas of its stream, in its last event and in its body.

use crate::joined;
use checker::{Answer, AnswerReader, Checker, Frame, ToolCall, sse};
use recordings::goldens::{GOLDENS, golden};
use serde_json::{Value, json};
use spec::Dialect;
use spec::table::apis::RESPONSES;

/// Returns the content of the deltas as an observer reads it, and the events.
fn read(dialect: &'static Dialect, stream: &[u8]) -> (Answer, Vec<Value>) {
    let (mut observer, mut checker) = (AnswerReader::new(dialect.api), Checker::new(dialect));
    let mut events = Vec::new();
    let mut take = |frame: Frame<'_>| {
        checker.frame_seen_by(&frame, &mut observer);
        events.extend(frame.data.and_then(|data| serde_json::from_str::<Value>(&data).ok()));
    };
    let mut parser = sse::Parser::default();
    parser.push(stream, &mut take);
    parser.finish(&mut take);
    (observer.finish(), events)
}

/// Returns the body of an HTTP response.
fn body(response: &[u8]) -> Value {
    let start = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    serde_json::from_slice(&response[start..]).unwrap()
}

/// Writes arguments that are JSON in one way.
fn in_one_form(mut answer: Answer) -> Answer {
    for call in &mut answer.calls {
        if let Ok(value) = serde_json::from_str::<Value>(&call.arguments) {
            call.arguments = value.to_string();
        }
    }
    answer
}

/// How much of each kind some answers have.
#[derive(Debug, Default)]
struct Seen {
    texts: usize,
    refusals: usize,
    thoughts: usize,
    calls: usize,
    stops: usize,
    counts: usize,
}

impl Seen {
    fn add(&mut self, answer: &Answer) {
        self.texts += answer.texts.len();
        self.refusals += usize::from(!answer.refusal.is_empty());
        self.thoughts += usize::from(!answer.reasoning.is_empty());
        self.calls += answer.calls.len();
        self.stops += usize::from(answer.status.is_some());
        self.counts += usize::from(
            answer.tokens.is_some_and(|tokens| tokens.input > Some(0) && tokens.output > Some(0)),
        );
    }
}

#[test]
fn deltas_and_the_last_event_of_goldens_agree() {
    let dialect = spec::dialect("openai").unwrap();
    let mut seen = Seen::default();
    for golden in GOLDENS.iter().filter(|golden| golden.dialect == "openai") {
        let (streamed, events) = read(dialect, golden.bytes);
        let ended: Vec<_> = events.iter().filter(|event| event["type"] == "response.completed").collect();
        let [ended] = &*ended else { continue };
        let whole = Answer::of_response(&RESPONSES, &ended["response"]);
        assert_eq!(streamed, whole, "{}", golden.name);
        assert_eq!(whole.status.as_deref(), Some("completed"));
        seen.add(&whole);
    }
    assert!(seen.texts > 5 && seen.refusals > 0 && seen.thoughts > 1 && seen.calls > 2, "{seen:?}");
    assert_eq!(seen.stops, seen.counts);
}

/// The tests of this file join the events of other APIs as their SDKs do, and read the result without any table.
#[test]
fn streams_and_the_bodies_that_sdks_make_of_them_agree() {
    for (api, join) in joined::APIS {
        let mut seen = Seen::default();
        let is_of_api =
            |dialect: &str| spec::dialect(dialect).is_some_and(|dialect| dialect.api.name == *api);
        for golden in GOLDENS.iter().filter(|golden| is_of_api(golden.dialect)) {
            let dialect = spec::dialect(golden.dialect).unwrap();
            let (streamed, events) = read(dialect, golden.bytes);
            let Some((body, expected)) = join(&events) else { continue };
            let name = format!("{}/{}", golden.dialect, golden.name);
            let (streamed, expected) = (in_one_form(streamed), in_one_form(expected));
            assert_eq!(streamed, expected, "{name}");
            let whole = in_one_form(Answer::of_response(dialect.api, &body));
            assert_eq!(whole, expected, "{name}: {body:#}");
            seen.add(&expected);
        }
        let has_all =
            seen.texts > 8 && seen.thoughts > 3 && seen.calls > 4 && seen.stops > 12 && seen.counts > 3;
        let has_refusals = seen.refusals > 0 || *api == "messages";
        assert!(has_all && has_refusals, "{api}: {seen:?}");
    }
}

#[test]
fn a_stream_and_the_body_of_the_same_response_agree() {
    let bodies = GOLDENS.iter().filter_map(|golden| Some((golden, golden.name.strip_suffix("-body")?)));
    let mut names = Vec::new();
    for (whole, name) in bodies {
        let dialect = spec::dialect(whole.dialect).unwrap();
        let name = format!("{}/{name}", whole.dialect);
        let (streamed, _) = read(dialect, golden(&name).unwrap().bytes);
        let whole = Answer::of_response(dialect.api, &body(whole.bytes));
        assert_eq!(in_one_form(streamed), in_one_form(whole), "{name}");
        names.push(name);
    }
    let expected =
        ["anthropic/weather", "chat/refusal", "chat/two-choices", "deepseek-chat/weather"].map(str::to_owned);
    names.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn calls_are_those_that_the_client_answers() {
    let response = json!({"id": "resp_1", "status": "completed", "output": [
        {"type": "mcp_call", "id": "mcp_1", "name": "search", "arguments": "{}"},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "run", "input": "SELECT 1;"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_2", "name": "get", "arguments": "{\"a\":1}"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Thus."}]}]});
    let answer = Answer::of_response(&RESPONSES, &response);
    let call = |id: &str, name: &str, arguments: &str| {
        let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
        ToolCall { id, name, arguments }
    };
    assert_eq!(answer.calls, [call("call_1", "run", "SELECT 1;"), call("call_2", "get", "{\"a\":1}")]);
    assert_eq!((answer.reasoning.as_str(), answer.texts.len(), answer.tokens), ("Thus.", 0, None));
}

#[test]
fn the_rest_of_a_long_stream_is_ignored() {
    let dialect = spec::dialect("openai").unwrap();
    let mut reader = AnswerReader::new(dialect.api).within(1000);
    for index in 0..1000 {
        let delta = json!({"type": "response.output_text.delta", "sequence_number": index, "item_id": "msg_1",
            "output_index": index, "content_index": 0, "delta": "12345678", "logprobs": []});
        reader.data(dialect, &delta.to_string());
    }
    let texts = reader.finish().texts;
    assert!((10..20).contains(&texts.len()), "{}", texts.len());
}

/// An event that is read alone has its effects, and those about other choices than the first are ignored.
#[test]
fn chunks_of_several_choices_are_those_of_the_first() {
    let dialect = spec::dialect("chat").unwrap();
    let mut reader = AnswerReader::new(dialect.api);
    let call = |id: &str| {
        json!({"index": 0, "id": id, "type": "function",
        "function": {"name": "get", "arguments": "{}"}})
    };
    let choice = |index: u64, text: &str| {
        json!({"index": index, "finish_reason": "stop",
        "delta": {"content": text, "tool_calls": [call(text)]}})
    };
    let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [choice(1, "b"), choice(0, "a")]});
    reader.data(dialect, &chunk.to_string());
    let answer = reader.finish();
    assert_eq!((answer.texts, answer.status.as_deref()), (vec!["a".to_owned()], Some("stop")));
    let ids: Vec<_> = answer.calls.iter().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!((ids, answer.id.as_deref()), (vec![("a", "{}")], Some("c")));
}
