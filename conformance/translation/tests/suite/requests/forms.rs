//! The forms in which clients ask for the same: `forms.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use translation::{Question, Role, Turn};

use super::dialects;

#[derive(Deserialize)]
struct Form {
    about: String,
    question: Question,
    /// Requests that ask it, by API.
    #[serde(flatten)]
    requests: BTreeMap<String, Vec<Value>>,
}

#[test]
fn requests_are_the_same_question_in_every_form() {
    let forms: Vec<Form> = serde_json::from_str(include_str!("forms.json")).unwrap();
    for Form { about, question, mut requests } in forms {
        for dialect in dialects() {
            for request in requests.remove(dialect.api.name).into_iter().flatten() {
                assert_eq!(Question::read(dialect.api, &request), question, "{about}: {request}");
            }
        }
        assert!(requests.is_empty(), "{about}: {requests:?} are of no API");
    }
}

#[test]
fn thoughts_keep_their_own_seal() {
    let gemini = spec::spoken().find(|api| api.name == "gemini").unwrap();
    let thought = json!({"thought": true, "thoughtSignature": "c2ln"});
    let question = Question::read(
        gemini,
        &json!({"contents": [{"role": "model", "parts": [thought, {"text": "Hm."}]}]}),
    );
    let sealed = json!([{"text": "Hm.", "thoughtSignature": "c2ln"}]);
    assert_eq!(question.write(gemini).pointer("/contents/0/parts"), Some(&sealed));
}

#[test]
fn hostile_requests_are_read_in_bounds() {
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|number| (format!("{number}{}", "é".repeat(1000)), json!(1))).collect();
    let odd = json!([null, 1, "x", [], {}, [[]], {"type": 1}, {"type": "text"}, {"role": []}, {"role": "user", "content": 5}]);
    let names = [
        "model",
        "messages",
        "input",
        "tools",
        "tool_choice",
        "thinking",
        "reasoning",
        "text",
        "include",
        "stop",
        "system",
        "instructions",
        "metadata",
        "output_config",
        "response_format",
        "max_tokens",
        "stream",
        "user",
        "functions",
    ];
    for api in dialects().map(|dialect| dialect.api) {
        let question = Question::read(api, &Value::Object(many.clone()));
        assert_eq!(question.others.len(), 64);
        assert!(question.others.iter().all(|name| name.chars().count() <= 64));
        for name in names {
            for value in odd.as_array().unwrap().iter().chain([&odd]) {
                let question = Question::read(api, &json!({name: value}));
                let roles: Vec<Role> = question.turns.iter().map(|turn: &Turn| turn.role).collect();
                assert!(roles.windows(2).all(|pair| pair.first() != pair.last()), "{name} {value}");
                for dialect in dialects() {
                    assert!(question.write(dialect.api).is_object());
                }
            }
        }
    }
}
