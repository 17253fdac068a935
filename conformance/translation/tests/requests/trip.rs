//! What is written is read again, but for what the API cannot carry.

use serde_json::{Value, json};
use spec::Verdict;
use translation::{Choice, Format, Part, Question, Reasoning, Role, Turn};

use super::dialects;
use super::table::{call, conversations, model, options, question, result, text, user};

/// Returns a question without what an API cannot carry, so that both sides of the trip can be compared.
fn without(mut question: Question, lost: &[&str]) -> Question {
    let usual = super::table::question();
    for lost in lost {
        match *lost {
            "limit" => question.limit = usual.limit,
            "stops" => question.stops.clear(),
            "temperature" => question.temperature = None,
            "choices" => question.choices = None,
            "choice" => question.choice = Choice::Free,
            "is_one_call" => question.is_one_call = false,
            "effort" => question.effort = None,
            "format" => question.format = Format::Text,
            "format.name" => {
                if let Format::Schema { name, .. } = &mut question.format {
                    name.clear();
                }
            }
            "order" => {
                for turn in &mut question.turns {
                    turn.parts.sort_by_key(|part| match part {
                        Part::Reasoning(_) | Part::Result(_) => 0,
                        Part::Text(_) | Part::Refusal(_) | Part::Image(_) => 1,
                        Part::Call(_) => 2,
                    });
                }
            }
            inner => question.turns.iter_mut().for_each(|turn| parts_without(&mut turn.parts, inner)),
        }
    }
    let nothing = Part::Reasoning(Reasoning::default());
    question.turns.iter_mut().for_each(|turn| turn.parts.retain(|part| *part != nothing));
    question
}

fn parts_without(parts: &mut Vec<Part>, lost: &str) {
    match lost {
        "images" => parts.retain(|part| !matches!(part, Part::Image(_))),
        "reasoning" => parts.retain(|part| !matches!(part, Part::Reasoning(_))),
        _ => {}
    }
    for part in parts {
        match (lost, part) {
            ("refusal", part @ Part::Refusal(_)) => *part = text("No."),
            ("result.is_error", Part::Result(output)) => output.is_error = false,
            ("arguments", Part::Call(call)) => "{}".clone_into(&mut call.arguments),
            ("reasoning.id", Part::Reasoning(reasoning)) => reasoning.id = None,
            ("reasoning.seal", Part::Reasoning(reasoning)) => reasoning.seal = None,
            ("reasoning.is_redacted", Part::Reasoning(reasoning)) => reasoning.is_redacted = false,
            _ => {}
        }
    }
}

#[test]
fn questions_come_back_without_what_their_api_cannot_carry() {
    for (name, question, lost) in options().into_iter().chain(conversations()) {
        for (dialect, lost) in dialects().into_iter().zip(lost) {
            let api = dialect.api;
            let request = question.write(api);
            let place = format!("{name} in {}: {request}", api.name);
            assert_eq!(question.unsaid(api), lost, "{place}");
            let read = Question::read(api, &request);
            assert_eq!(without(read.clone(), lost), without(question.clone(), lost), "{place}");
            if !lost.is_empty() {
                assert_ne!(read, question, "nothing is lost of {place}");
            }
        }
    }
}

#[test]
fn options_and_conversations_do_not_disturb_each_other() {
    for (option, asked, lost_of_option) in options() {
        for (conversation, said, lost_of_turns) in conversations() {
            let question = Question { turns: said.turns, ..asked.clone() };
            for ((dialect, of_option), of_turns) in
                dialects().into_iter().zip(lost_of_option).zip(lost_of_turns)
            {
                let mut lost = [of_option, of_turns].concat();
                let mut unsaid = question.unsaid(dialect.api);
                lost.sort_unstable();
                unsaid.sort_unstable();
                let place = format!("{option} and {conversation} in {}", dialect.api.name);
                assert_eq!(unsaid, lost, "{place}");
                let read = Question::read(dialect.api, &question.write(dialect.api));
                assert_eq!(without(read, &lost), without(question.clone(), &lost), "{place}");
            }
        }
    }
}

#[test]
fn written_requests_match_the_schema_of_their_api() {
    for (name, question, _) in options().into_iter().chain(conversations()) {
        for dialect in dialects() {
            let mut request = question.write(dialect.api);
            if dialect.api.name == "messages" {
                // The published schema is that of requests with a stream.
                assert_eq!(request["stream"], question.is_stream);
                request["stream"] = json!(true);
            }
            let verdict = dialect.check_type(dialect.root("request").unwrap(), &request.to_string());
            assert_eq!(verdict, Verdict::Valid, "{name} in {}: {request}", dialect.api.name);
        }
    }
}

/// Returns the texts, calls and results of a question without their order within a turn, which some APIs prescribe.
fn said(question: &Question) -> Vec<String> {
    let said = |part: &Part| match part {
        Part::Text(text) | Part::Refusal(text) => Some(format!("text {text}")),
        Part::Call(call) => Some(format!("call {} {} {}", call.id, call.name, call.arguments)),
        Part::Result(output) => Some(format!("result {} {}", output.id, output.text)),
        Part::Image(_) | Part::Reasoning(_) => None,
    };
    let of_turn = |turn: &Turn| {
        let mut said: Vec<String> = turn.parts.iter().filter_map(said).collect();
        said.sort();
        said
    };
    question.turns.iter().flat_map(of_turn).collect()
}

#[test]
fn a_crossing_keeps_texts_calls_results_and_tools() {
    let rows = || options().into_iter().chain(conversations());
    for (name, question, _) in rows().filter(|(name, ..)| *name != "cut arguments") {
        for front in dialects() {
            for upstream in dialects() {
                let asked = Question::read(front.api, &question.write(front.api));
                let sent = Question::read(upstream.api, &asked.write(upstream.api));
                let place = format!("{name} from {} to {}", front.api.name, upstream.api.name);
                assert_eq!(said(&sent), said(&question), "{place}");
                assert_eq!(sent.tools, question.tools, "{place}");
                assert_eq!(sent.instructions, question.instructions, "{place}");
                assert_eq!(sent.others, [""; 0], "{place}");
            }
        }
    }
}

#[test]
fn a_question_of_any_shape_is_written_in_turns() {
    let question = Question {
        turns: vec![
            user(vec![text(""), call("a"), text("b")]),
            user(vec![]),
            model(vec![result("a"), text("c")]),
        ],
        ..question()
    };
    for dialect in dialects() {
        let read = Question::read(dialect.api, &question.write(dialect.api));
        let roles: Vec<Role> = read.turns.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [Role::Assistant, Role::User, Role::Assistant], "{}", dialect.api.name);
    }
    let empty = Question::default();
    for dialect in dialects() {
        assert_eq!(Question::read(dialect.api, &Value::Null), empty);
        assert_eq!(Question::read(dialect.api, &empty.write(dialect.api)).turns, []);
    }
}

#[test]
fn written_requests_ask_for_streams_seals_and_counts() {
    let question = Question {
        instructions: vec!["a".to_owned(), "b".to_owned()],
        limit: None,
        effort: Some("medium".to_owned()),
        format: Format::Schema { name: "sum".to_owned(), schema: json!({"type": "object"}) },
        is_one_call: true,
        ..question()
    };
    let tool = question.tools[0].clone();
    let [responses, messages, chat] = dialects().map(|dialect| question.write(dialect.api));
    let expected = json!({
        "model": "m",
        "stream": true,
        "instructions": "a",
        "input": [
            {"type": "message", "role": "developer", "content": "b"},
            {"type": "message", "role": "user", "content": "Weather?"},
        ],
        "store": false,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "tools": [{
            "type": "function",
            "name": "weather",
            "parameters": tool.parameters,
            "strict": false,
            "description": tool.description,
        }],
        "parallel_tool_calls": false,
        "text": {
            "format": {"type": "json_schema", "name": "sum", "schema": {"type": "object"}, "strict": true},
        },
    });
    assert_eq!(responses, expected);
    let expected = json!({
        "model": "m",
        "system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "messages": [{"role": "user", "content": "Weather?"}],
        "stream": true,
        "tools": [{"name": "weather", "input_schema": tool.parameters, "description": tool.description}],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        // The usual limit is for what follows the reasoning.
        "max_tokens": 4096 + 2048,
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    });
    assert_eq!(messages, expected);
    let function = json!({"name": "weather", "parameters": tool.parameters, "description": tool.description});
    let expected = json!({
        "model": "m",
        "stream": true,
        "messages": [
            {"role": "system", "content": "a"},
            {"role": "system", "content": "b"},
            {"role": "user", "content": "Weather?"},
        ],
        "stream_options": {"include_usage": true},
        "reasoning_effort": "medium",
        "tools": [{"type": "function", "function": function}],
        "parallel_tool_calls": false,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "sum", "schema": {"type": "object"}, "strict": true},
        },
    });
    assert_eq!(chat, expected);
}
