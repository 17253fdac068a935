//! The content of a response is the same in the deltas of its stream and in its last event.

use checker::{Answer, AnswerReader, Checker, Frame, ToolCall, sse};
use recordings::goldens::GOLDENS;
use serde_json::{Value, json};
use spec::Dialect;
use spec::table::apis::RESPONSES;

/// Returns the content of the deltas as an observer reads it, and the responses of the events that complete one.
fn read(dialect: &'static Dialect, stream: &[u8]) -> (Answer, Vec<Value>) {
    let (mut observer, mut checker) = (AnswerReader::new(dialect.api), Checker::new(dialect));
    let mut responses = Vec::new();
    let mut take = |frame: Frame<'_>| {
        checker.frame_seen_by(&frame, &mut observer);
        let event: Option<Value> = frame.data.and_then(|data| serde_json::from_str(&data).ok());
        let ended = event.filter(|event| event["type"] == "response.completed");
        responses.extend(ended.map(|mut event| event["response"].take()));
    };
    let mut parser = sse::Parser::default();
    parser.push(stream, &mut take);
    parser.finish(&mut take);
    (observer.finish(), responses)
}

#[test]
fn deltas_and_the_last_event_of_goldens_agree() {
    let dialect = spec::dialect("openai").unwrap();
    let (mut texts, mut refusals, mut thoughts, mut calls) = (0, 0, 0, 0);
    for golden in GOLDENS.iter().filter(|golden| golden.dialect == "openai") {
        let (streamed, responses) = read(dialect, golden.bytes);
        let [response] = &*responses else { continue };
        let whole = Answer::of_response(&RESPONSES, response);
        let same = Answer { status: whole.status.clone(), tokens: whole.tokens, ..streamed };
        assert_eq!(same, whole, "{}", golden.name);
        assert!(whole.tokens.is_some_and(|tokens| tokens.input > Some(0) && tokens.output > Some(0)));
        texts += whole.texts.len();
        refusals += usize::from(!whole.refusal.is_empty());
        thoughts += usize::from(!whole.reasoning.is_empty());
        calls += whole.calls.len();
    }
    assert!(texts > 5 && refusals > 0 && thoughts > 1 && calls > 2, "{texts} {refusals} {thoughts} {calls}");
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
