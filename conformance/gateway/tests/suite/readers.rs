//! A stream and its body are read alike, by the checker and by the translator.

use std::fmt::{Debug, Write as _};

use checker::Answer;
use serde_json::{Value, json};
use spec::Dialect;
use translation::Reply;

/// The members that all readers know: text, refusal, reasoning, calls, how it ended, and the tokens of the output.
#[derive(Debug, Default, PartialEq)]
struct Read {
    text: String,
    refusal: String,
    reasoning: String,
    calls: Vec<[String; 3]>,
    status: Option<String>,
    output: Option<u64>,
}

impl From<Answer> for Read {
    fn from(answer: Answer) -> Self {
        let text = answer.text();
        let calls = answer.calls.into_iter().map(|call| [call.id, call.name, in_one_form(&call.arguments)]);
        Self {
            text,
            refusal: answer.refusal,
            reasoning: answer.reasoning,
            calls: calls.collect(),
            status: answer.status,
            output: answer.tokens.and_then(|tokens| tokens.output),
        }
    }
}

impl From<Reply> for Read {
    fn from(reply: Reply) -> Self {
        Answer::from(reply).into()
    }
}

fn in_one_form(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
    if value == "" { "{}".to_owned() } else { value.to_string() }
}

/// Some dialects have the items only in events.
fn has_items(dialect: &Dialect, body: &Value) -> bool {
    let mut places = dialect.api.scope(dialect.api.container).in_body.iter();
    places.any(|place| place.split_once("/{").is_some_and(|(list, _)| body.pointer(list).is_some()))
}

#[test]
fn streams_and_bodies_are_read_alike() {
    let texts = [
        "[[say A|B|C]][[and D|E]]",
        "[[refuse A|B]]",
        "[[summarize A|B]][[say C|D]]",
        "[[think A|B]][[say C|D]]",
        "[[call f {\"a\":|1} parallel 2]]",
        "[[call f {\"a\":|1} parallel 3 interleaved]][[say A]]",
        "[[call f]]",
        "[[custom f A|B]]",
        "[[web_search x]][[say A|B]]",
        "[[say A|B]][[cite]]",
        "[[mcp]][[say C]]",
        "[[say A|B]][[incomplete]]",
        "[[say A|B]][[incomplete content_filter]]",
        "[[usage 10 20 5]][[say A|B]]",
    ];
    let (mut wrong, mut seen) = (String::new(), 0);
    for dialect in gateway::dialects() {
        for text in texts {
            let mut request = gateway::request(text, dialect.api);
            request["stream_options"] = json!({"include_usage": true});
            let plan = gateway::plan(&request, dialect, 0);
            let answer = gateway::render(&request, &plan, dialect, 0);
            let (stream, body) = (answer.stream(), answer.response());
            let first = Read::from(Answer::of_stream(dialect, stream.as_bytes()));
            let mut others: Vec<(&str, Read)> =
                vec![("stream, translator", Reply::of_stream(dialect, stream.as_bytes()).into())];
            if has_items(dialect, body) {
                others.push(("body, checker", Answer::of_body(dialect, body).into()));
                let body = body.to_string();
                others.push(("body, translator", Reply::of_body(dialect, 200, body.as_bytes()).into()));
            }
            seen += others.len();
            for (by, other) in others.iter().filter(|(_, other)| *other != first) {
                let mut tell = |what, one: &dyn Debug, other: &dyn Debug| {
                    let [one, other] = [one, other].map(|it| format!("{it:?}"));
                    if one != other {
                        _ = writeln!(wrong, "{} {text}: {what} by {by}: {other}, not {one}", dialect.name);
                    }
                };
                tell("text", &first.text, &other.text);
                tell("refusal", &first.refusal, &other.refusal);
                tell("reasoning", &first.reasoning, &other.reasoning);
                tell("calls", &first.calls, &other.calls);
                tell("status", &first.status, &other.status);
                tell("output", &first.output, &other.output);
            }
        }
    }
    assert!(wrong.is_empty() && seen > 900, "of {seen}:\n{wrong}");
}
