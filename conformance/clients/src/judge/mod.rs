//! Compares the reply of a client with the response that was sent.

pub(crate) mod requests;

use catalogue::{About, Expect};
use checker::{Answer, ToolCall};
use results::ClientOutcome;
use results::text::{cut, visible};
use serde_json::Value;

use crate::cases::case::PlayedCase;
use crate::play::child::Ended;
use crate::protocol::{Reply, ReplyCall, ReplyUsage, Status};

const QUOTED: usize = 200;

/// Judges the behaviour of a client on a case. The text is the difference, or the reported error.
pub fn judge(case: &PlayedCase, ended: &Ended) -> (ClientOutcome, String) {
    match ended {
        Ended::Hung => (ClientOutcome::Hung, format!("no reply after {} ms", case.limit().as_millis())),
        Ended::Died(how) => (ClientOutcome::Fragile, quoted(how)),
        Ended::Unreadable(why) => (ClientOutcome::HarnessError, quoted(why)),
        Ended::Replied(reply) => of_reply(case, reply),
    }
}

fn of_reply(case: &PlayedCase, reply: &Reply) -> (ClientOutcome, String) {
    let error = || error_of(reply);
    match (reply.status, case.expect) {
        (Status::Unsupported, _) => (ClientOutcome::NotExercised, error()),
        (Status::Error, _) if case.cancel_after.is_some() => (ClientOutcome::Fragile, error()),
        (Status::Error, Expect::MustSurvive) => (ClientOutcome::Fragile, error()),
        (Status::Error, Expect::MustReport | Expect::Either) => (ClientOutcome::Reported, error()),
        (Status::Ok, _) if case.cancel_after.is_some() => of_cancelled(case, reply),
        (Status::Ok, Expect::MustReport) => (ClientOutcome::Silent, silent(reply)),
        (Status::Ok, Expect::MustSurvive | Expect::Either) => {
            match difference(&case.answers, &case.about, reply) {
                Some(difference) => (ClientOutcome::Wrong, difference),
                None => match left_out(case, reply) {
                    Some(part) => (
                        ClientOutcome::NotExercised,
                        format!("the reply has no `{part}`, which this case tests"),
                    ),
                    None => (ClientOutcome::Right, String::new()),
                },
            }
        }
    }
}

pub(crate) fn error_of(reply: &Reply) -> String {
    let error = reply.error.clone().unwrap_or_default();
    quoted(&[error.kind, error.message].into_iter().flatten().collect::<Vec<_>>().join(": "))
}

/// The case tests a part that the reply does not have: it is not exercised then.
fn left_out(case: &PlayedCase, reply: &Reply) -> Option<&'static str> {
    let returned = |part: &About| match part {
        About::Text => ("text", reply.text.is_some() || reply.streamed.is_some()),
        About::Refusal => ("refusal", reply.refusal.is_some()),
        About::Reasoning => ("reasoning", reply.reasoning.is_some()),
        About::Calls => ("calls", reply.calls.is_some()),
        About::Status => ("response_status", reply.response_status.is_some()),
        About::Id => ("response_id", reply.response_id.is_some()),
        About::Usage => ("usage", reply.usage.is_some()),
    };
    case.about.iter().map(returned).find(|(_, is_there)| !is_there).map(|(name, _)| name)
}

/// Describes a reply that should have been an error.
fn silent(reply: &Reply) -> String {
    let text = reply.streamed.iter().chain(&reply.text).flatten().max_by_key(|text| text.len());
    let status = reply.response_status.iter().flatten().next();
    let status = status.map_or_else(String::new, |status| format!(", status {}", quoted(status)));
    match text {
        Some(text) if !text.is_empty() => format!("expected an error, found text {}{status}", shown(text)),
        _ => format!("expected an error, found a reply without text{status}"),
    }
}

/// The client must disconnect, and return the beginning of the text.
fn of_cancelled(case: &PlayedCase, reply: &Reply) -> (ClientOutcome, String) {
    let whole = case.answers.first().map(Answer::text).unwrap_or_default();
    let texts = reply.streamed.iter().chain(&reply.text).flatten();
    match texts.into_iter().find(|text| !whole.starts_with(text.as_str())) {
        None => (ClientOutcome::Right, String::new()),
        Some(text) => {
            (ClientOutcome::Wrong, format!("text is {}, expected the beginning of {whole:?}", shown(text)))
        }
    }
}

/// The first part of the reply that equals none of the correct responses.
pub(crate) fn difference(answers: &[Answer], about: &[About], reply: &Reply) -> Option<String> {
    let any = |fits: &dyn Fn(&Answer) -> bool| answers.iter().any(fits);
    let first = answers.first()?;
    let differs = |what: &str, found: &str, expected: &str| {
        format!("{what} is {}, expected {}", shown(found), shown(expected))
    };
    for (name, given) in [("text", &reply.text), ("streamed", &reply.streamed)] {
        if let Some(given) = given {
            let given = given.clone().unwrap_or_default();
            let fits =
                |answer: &Answer| ["", "\n", "\n\n"].iter().any(|joint| answer.texts.join(joint) == given);
            if !any(&fits) {
                return Some(parted(name, "is", &given, &first.text()));
            }
        }
    }
    if let Some(given) = &reply.refusal {
        let given = given.clone().unwrap_or_default();
        if !any(&|answer| answer.refusal == given) {
            return Some(differs("refusal", &given, &first.refusal));
        }
    }
    if let Some(given) = &reply.reasoning {
        let given = given.clone().unwrap_or_default();
        if !any(&|answer| letters(&answer.reasoning) == letters(&given)) {
            return Some(differs("reasoning", &given, &first.reasoning));
        }
    }
    if let Some(given) = &reply.calls {
        let given = given.as_deref().unwrap_or_default();
        if !any(&|answer| are_calls(&answer.calls, given)) {
            return Some(different_calls(&first.calls, given));
        }
    }
    if let Some(given) = &reply.response_status
        && !any(&|answer| {
            answer.status.as_deref().unwrap_or_default() == given.as_deref().unwrap_or_default()
        })
    {
        let (given, expected) = (given.clone().unwrap_or_default(), first.status.clone().unwrap_or_default());
        return Some(differs("response_status", &given, &expected));
    }
    if let Some(Some(given)) = &reply.response_id
        && !any(&|answer| answer.id.as_deref().unwrap_or_default() == given)
    {
        return Some(differs("response_id", given, first.id.as_deref().unwrap_or_default()));
    }
    let is_null = |part, is_null: bool, is_sent: bool| about.contains(&part) && is_null && is_sent;
    if is_null(About::Id, reply.response_id == Some(None), first.id.is_some()) {
        return Some(differs("response_id", "", first.id.as_deref().unwrap_or_default()));
    }
    if is_null(About::Usage, reply.usage == Some(None), first.tokens.is_some()) {
        return Some("usage is null, but the response has usage".to_owned());
    }
    if let Some(Some(given)) = reply.usage {
        let is_same =
            |sent: Option<u64>, given: Option<u64>| given.is_none_or(|given| sent.unwrap_or(0) == given);
        let fits = |answer: &Answer| {
            let sent = answer.tokens.unwrap_or_default();
            is_same(sent.input, given.input_tokens) && is_same(sent.output, given.output_tokens)
        };
        if !any(&fits) {
            let [given, sent] = [given, first.tokens.unwrap_or_default().into()].map(counts);
            return Some(format!("usage is {given}, expected {sent}"));
        }
    }
    None
}

fn counts(ReplyUsage { input_tokens, output_tokens }: ReplyUsage) -> String {
    let [input, output] = [input_tokens, output_tokens]
        .map(|count| count.map_or_else(|| "not given".to_owned(), |count| count.to_string()));
    format!("input tokens {input}, output tokens {output}")
}

/// Describes two different texts, with the position of the first difference.
fn parted(name: &str, verb: &str, found: &str, expected: &str) -> String {
    if found.is_empty() {
        return format!("{name} {verb} empty, expected {}", shown(expected));
    }
    let same = found.chars().zip(expected.chars()).take_while(|(one, other)| one == other).count();
    format!(
        "{name} {verb} {}, expected {}; they differ from character {}",
        shown(found),
        shown(expected),
        same + 1
    )
}

/// Without white space, as clients join parts in different ways.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

fn are_calls(sent: &[ToolCall], given: &[ReplyCall]) -> bool {
    if sent.len() != given.len() {
        return false;
    }
    let has_ids = given.iter().all(|call| call.call_id.is_some());
    let mut left: Vec<&ToolCall> = sent.iter().collect();
    given.iter().all(|given| {
        // Calls with ids may come in any order.
        let at = left.iter().position(|sent| is_call(sent, given)).filter(|at| has_ids || *at == 0);
        at.map(|at| left.remove(at)).is_some()
    })
}

fn is_call(sent: &ToolCall, given: &ReplyCall) -> bool {
    let is_id = given.call_id.as_ref().is_none_or(|id| *id == sent.id);
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    let is_same = match &given.arguments {
        Value::String(text) if *text == sent.arguments => true,
        Value::String(text) => {
            let (found, sent) = (value(text), value(&sent.arguments));
            found.is_some_and(|found| sent.is_some_and(|sent| are_equal(&found, &sent)))
        }
        arguments => value(&sent.arguments).is_some_and(|sent| are_equal(&sent, arguments)),
    };
    is_id && given.name == sent.name && is_same
}

/// Equal as JSON, whose numbers have many forms: a client that reads `-3e2` may tell `-300`.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            // Two integers differ in any digit.
            one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has =
                |(name, value): (&String, &Value)| other.get(name).is_some_and(|it| are_equal(value, it));
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Describes the first call that differs, by what differs in it.
fn different_calls(sent: &[ToolCall], given: &[ReplyCall]) -> String {
    let arguments = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let whole = |call: &ReplyCall| quoted(&format!("{}({})", call.name, arguments(&call.arguments)));
    let mut left: Vec<&ToolCall> = sent.iter().collect();
    let mut odd: Vec<&ReplyCall> = Vec::new();
    for call in given {
        match left.iter().position(|sent| is_call(sent, call)) {
            Some(at) => drop(left.remove(at)),
            None => odd.push(call),
        }
    }
    let Some(odd) = odd.first() else {
        if let Some(call) = left.first() {
            let call = quoted(&format!("{}({})", call.name, call.arguments));
            return format!("{} of {} calls: {call} is missing", given.len(), sent.len());
        }
        let names: Vec<&str> = sent.iter().map(|call| call.name.as_str()).collect();
        return format!("the calls are in another order, expected {}", quoted(&names.join(", ")));
    };
    let is_same_id = |call: &&&ToolCall| odd.call_id.as_ref() == Some(&call.id);
    let of_same_name = || left.iter().find(|call| call.name == odd.name);
    let Some(meant) = left.iter().find(is_same_id).or_else(of_same_name).or(left.first()) else {
        return format!("{} calls, expected {}: {} was not sent", given.len(), sent.len(), whole(odd));
    };
    if odd.name != meant.name {
        return format!("the name of a call is {}, expected {}", shown(&odd.name), shown(&meant.name));
    }
    let found = arguments(&odd.arguments);
    if let Some(id) = odd.call_id.as_ref().filter(|id| **id != meant.id) {
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        if found == meant.arguments || value(&found).is_some() && value(&found) == value(&meant.arguments) {
            let (id, expected) = (shown(id), shown(&meant.id));
            return format!("the call_id of {} is {id}, expected {expected}", quoted(&meant.name));
        }
    }
    parted(&format!("the arguments of {}", quoted(&meant.name)), "are", &found, &meant.arguments)
}

fn shown(text: &str) -> String {
    format!("{:?}", cut(text, QUOTED))
}

pub(crate) fn quoted(text: &str) -> String {
    visible(&cut(text, QUOTED))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_in_each_of_their_forms() {
        let sent =
            ToolCall { id: "c".to_owned(), name: "f".to_owned(), arguments: r#"{"a":[-3e2,2]}"#.to_owned() };
        for (given, is_same) in [
            (json!({"a": [-300, 2.0]}), true),
            (json!({"a": [-301, 2]}), false),
            (json!({"a": [-300]}), false),
        ] {
            let call = |arguments| ReplyCall { call_id: None, name: "f".to_owned(), arguments };
            assert_eq!(is_call(&sent, &call(given.clone())), is_same, "{given}");
            assert_eq!(is_call(&sent, &call(json!(given.to_string()))), is_same, "{given}");
        }
    }

    #[test]
    fn an_empty_id_is_none() {
        let reply = |id: &str| Reply { response_id: Some(Some(id.to_owned())), ..Reply::default() };
        let answer = |id: Option<&str>| Answer { id: id.map(str::to_owned), ..Answer::default() };
        let sent = [answer(Some("msg_1")), answer(None)];
        assert_eq!(["", "msg_1"].map(|id| difference(&sent, &[], &reply(id))), [None, None]);
        assert!(difference(&sent[..1], &[], &reply("")).is_some());
        assert!(difference(&sent[1..], &[], &reply("msg_1")).is_some());
    }

    #[test]
    fn of_calls_only_what_differs_is_told() {
        let sent = |id: &str, name: &str, arguments: &str| ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let two = [sent("call_1", "add", r#"{"a":1}"#), sent("call_2", "get", "{}")];
        for (given, description) in [
            (json!([]), r#"0 of 2 calls: add({"a":1}) is missing"#),
            (
                json!([{"call_id": "call_1", "name": "add", "arguments": {"a": 1}}]),
                "1 of 2 calls: get({}) is missing",
            ),
            (
                json!([{"call_id": "call_1", "name": "add", "arguments": {"a": 1}},
                    {"call_id": "fc_2", "name": "get", "arguments": "{ }"}]),
                r#"the call_id of get is "fc_2", expected "call_2""#,
            ),
            (
                json!([{"call_id": "call_1", "name": "add", "arguments": {"a": 1}},
                    {"call_id": "call_2", "name": "got", "arguments": "{}"}]),
                r#"the name of a call is "got", expected "get""#,
            ),
            (
                json!([{"call_id": "call_2", "name": "get", "arguments": {}},
                    {"call_id": "call_1", "name": "add", "arguments": "{\"a\":1"}]),
                r#"the arguments of add are "{\"a\":1", expected "{\"a\":1}"; they differ from character 7"#,
            ),
            (
                json!([{"call_id": "call_1", "name": "add", "arguments": {"a": 1}},
                    {"call_id": "call_2", "name": "get", "arguments": {}},
                    {"call_id": "call_3", "name": "get", "arguments": {}}]),
                "3 calls, expected 2: get({}) was not sent",
            ),
            (
                json!([{"name": "get", "arguments": {}}, {"name": "add", "arguments": {"a": 1}}]),
                "the calls are in another order, expected add, get",
            ),
        ] {
            let given: Vec<ReplyCall> = serde_json::from_value(given).expect("they are calls");
            assert_eq!(different_calls(&two, &given), description);
        }
    }
}
