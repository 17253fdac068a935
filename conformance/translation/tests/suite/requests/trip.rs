//! What is written is read again, but for what the API cannot carry.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spec::Verdict;
use translation::{Choice, Format, Part, Question, Reasoning, Role, Turn};

use super::dialects;
use super::table::TABLE;

/// Returns a question without what an API cannot carry, so that both sides of the trip can be compared.
fn without(mut question: Question, lost: &[&str]) -> Question {
    for lost in lost {
        match *lost {
            "limit" => question.limit = TABLE.question.limit,
            "stops" => question.stops.clear(),
            "temperature" => question.temperature = None,
            "choices" => question.choices = None,
            "user" => question.user = None,
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
            ("refusal", part @ Part::Refusal(_)) => *part = Part::Text("No.".to_owned()),
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
    for row in TABLE.rows() {
        let question = row.question();
        for dialect in dialects() {
            let (api, lost) = (dialect.api, &row.lost(dialect)[..]);
            let request = question.write(api);
            let place = format!("{} in {}: {request}", row.name, api.name);
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
    for option in &TABLE.options {
        for conversation in &TABLE.conversations {
            let question = Question { turns: conversation.question().turns, ..option.question() };
            for dialect in dialects() {
                let mut lost = [option.lost(dialect), conversation.lost(dialect)].concat();
                let mut unsaid = question.unsaid(dialect.api);
                lost.sort_unstable();
                unsaid.sort_unstable();
                let place = format!("{} and {} in {}", option.name, conversation.name, dialect.api.name);
                assert_eq!(unsaid, lost, "{place}");
                let read = Question::read(dialect.api, &question.write(dialect.api));
                assert_eq!(without(read, &lost), without(question.clone(), &lost), "{place}");
            }
        }
    }
}

#[test]
fn written_requests_match_the_schema_of_their_api() {
    for row in TABLE.rows() {
        let question = row.question();
        for dialect in dialects() {
            let mut request = question.write(dialect.api);
            if dialect.api.name == "messages" {
                // The published schema is that of requests with a stream.
                assert_eq!(request["stream"], question.is_stream);
                request["stream"] = json!(true);
            }
            let verdict = dialect.check_type(dialect.root("request").unwrap(), &request.to_string());
            assert_eq!(verdict, Verdict::Valid, "{} in {}: {request}", row.name, dialect.api.name);
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
    for row in TABLE.rows().filter(|row| row.name != "cut arguments") {
        let (name, question) = (&row.name, row.question());
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
    let call = json!({"call": {"id": "a", "name": "weather", "arguments": "{}"}});
    let question: Question = serde_json::from_value(json!({"turns": [
        {"role": "user", "parts": [{"text": ""}, call, {"text": "b"}]},
        {"role": "user", "parts": []},
        {"role": "assistant", "parts": [{"result": {"id": "a"}}, {"text": "c"}]},
    ]}))
    .unwrap();
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
    let mut written: BTreeMap<String, Value> = serde_json::from_str(include_str!("written.json")).unwrap();
    let question: Question = serde_json::from_value(written.remove("question").unwrap()).unwrap();
    for dialect in dialects() {
        assert_eq!(question.write(dialect.api), written[dialect.api.name]);
    }
}
