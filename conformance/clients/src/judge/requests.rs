//! Checks the requests of a client.

use catalogue::Step;
use gateway::{Received, invalid, with_path};
use results::Transport;
use serde_json::Value;
use spec::{Api, Dialect};

use crate::cases::case::PlayedCase;
use crate::cases::conversation::{entries, is_kept, is_whole, offered, outputs, said, sealed, words};
use crate::cases::turns::{PlayedTurn, holds, text};
use crate::journal::{RequestProblem, Sent, problem};

/// Members of a request that a client passes on unchanged.
const KEPT: [&str; 6] =
    ["previous_response_id", "max_output_tokens", "store", "background", "instructions", "include"];
/// Members of a request that a WebSocket message must not have.
const NOT_ON_SOCKETS: [&str; 3] = ["stream", "stream_options", "background"];

pub(crate) fn problems(
    case: &PlayedCase,
    key: &str,
    dialect: &Dialect,
    sent: &[Sent],
) -> Vec<RequestProblem> {
    let mut found = Vec::new();
    for one in sent {
        match one {
            Sent::Request(request, _) => of_request(case, key, dialect, request, &mut found),
            Sent::Message(message) => of_message(case, dialect, message, &mut found),
        }
    }
    if let Some(retries) = &case.retries {
        found.extend(retries.problems(sent, dialect.api));
    }
    found.sort();
    found.dedup();
    found
}

fn of_request(
    case: &PlayedCase,
    key: &str,
    dialect: &Dialect,
    request: &Received,
    found: &mut Vec<RequestProblem>,
) {
    found.extend(of_key(key, dialect.api, request));
    if request.method != "POST" || !dialect.api.is_at(&request.path) {
        return;
    }
    let content_type = request.header("content-type").unwrap_or_default();
    if !content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        found.push(problem(
            "content-type",
            format!("the content type is {content_type:?}, expected application/json"),
        ));
    }
    match serde_json::from_slice::<Value>(&request.body) {
        Err(error) => found.push(problem("schema", format!("the body is not JSON: {error}"))),
        Ok(body) => {
            let body = with_path(dialect.api, &request.path, body);
            let is_stream = body.get("stream") == Some(&Value::Bool(true));
            if is_stream != (case.transport == Transport::Sse) {
                let difference =
                    if is_stream { "has `stream: true`, expected none" } else { "has no `stream: true`" };
                found.push(problem("content", format!("the request {difference}")));
            }
            of_body(case, dialect, &body, found);
        }
    }
}

fn of_key(key: &str, api: &Api, request: &Received) -> Option<RequestProblem> {
    let names = || api.request.keys.iter().map(|(name, _)| name.to_lowercase());
    let has = |(name, value): (&str, String)| request.header(&name.to_lowercase()) == Some(&value);
    if api.request.with_key(key).any(has) {
        return None;
    }
    let found_key =
        if names().any(|name| request.header(&name).is_some()) { "another value" } else { "none" };
    let wanted = api.request.with_key("").map(|(name, value)| format!("{}: {value}", name.to_lowercase()));
    let wanted = wanted.map(|header| format!("`{}`", header.trim_end_matches([' ', ':'])));
    let wanted = wanted.collect::<Vec<_>>().join(" or ");
    let message = format!("expected the header {wanted} with the API key, found {found_key}");
    Some(problem("content", message))
}

fn of_message(case: &PlayedCase, dialect: &Dialect, message: &str, found: &mut Vec<RequestProblem>) {
    let Ok(mut body) = serde_json::from_str::<Value>(message) else {
        return found.push(problem("socket-message", "the message is not a JSON object"));
    };
    let kind = body.as_object_mut().and_then(|members| members.shift_remove("type"));
    let create = dialect.framing.create.unwrap_or_default();
    if kind.as_ref().and_then(Value::as_str) != Some(create) {
        return found.push(problem("socket-message", format!("the message has another type than {create}")));
    }
    for name in NOT_ON_SOCKETS.iter().filter(|name| body.get(**name).is_some()) {
        found.push(problem("socket-members", format!("the WebSocket message has `{name}`, expected none")));
    }
    if case.turn_of(&body).is_some_and(|turn| turn.repeats(&body)) {
        let message =
            "the message repeats the conversation, expected previous_response_id and only new input";
        found.push(problem("socket-input", message));
    }
    of_body(case, dialect, &body, found);
}

fn of_body(case: &PlayedCase, dialect: &Dialect, body: &Value, found: &mut Vec<RequestProblem>) {
    if let Some(invalid) = invalid(body, dialect) {
        found.push(problem("schema", invalid.message));
    }
    if text(body, "model") != text(&case.request, "model") {
        found.push(problem("content", "`model` differs from the case's request"));
    }
    if let Some(turn) = case.turn_of(body) {
        return of_turn(case, turn, (body, dialect.api), found);
    }
    let is_socket = case.transport == Transport::Websocket;
    for name in KEPT.iter().filter(|name| !(is_socket && NOT_ON_SOCKETS.contains(name))) {
        if case.request.get(*name).is_some_and(|value| body.get(*name) != Some(value)) {
            found.push(problem("content", format!("`{name}` differs from the case's request")));
        }
    }
    if let Some(input) = text(&case.request, "input")
        && !holds(body.get("input").unwrap_or(&Value::Null), input)
    {
        found.push(problem("content", "the text of the input is not in the request"));
    }
    let api = dialect.api;
    let input = body.get(api.request.input).unwrap_or(&Value::Null);
    if entries(&case.request, api).iter().flat_map(said).any(|said| !holds(input, said)) {
        found.push(problem("content", "the text of a message is not in the request"));
    }
    let names = |body: &Value| {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        offered(body, api).map(|(tool, name)| (owned(text(tool, "type")), owned(name))).collect::<Vec<_>>()
    };
    let (wanted, sent) = (names(&case.request), names(body));
    // A function without a type may get the usual one.
    let is_sent = |(kind, name): &(Option<String>, Option<String>)| {
        sent.iter().any(|(other, own)| own == name && (kind.is_none() || kind == other))
    };
    if !wanted.iter().all(is_sent) {
        found.push(problem("content", "`tools` lacks a tool of the case's request"));
    }
}

fn of_turn(
    case: &PlayedCase,
    turn: &PlayedTurn,
    (body, api): (&Value, &Api),
    found: &mut Vec<RequestProblem>,
) {
    let id = text(body, "previous_response_id");
    if id.is_some() && id != turn.before.id.as_deref() {
        found.push(problem("content", "`previous_response_id` is not the id of the previous response"));
    }
    let input = body.get(api.request.input).unwrap_or(&Value::Null);
    if is_whole(api) {
        of_conversation(case, turn, (body, api), found);
    }
    if turn.step == Step::Continue {
        if !words(&turn.request, api).iter().all(|wanted| holds(input, wanted)) {
            found.push(problem("content", "the text of the input is not in the request"));
        }
        return;
    }
    for call in &turn.before.calls {
        let output = outputs(body, &call.id, api);
        if output.len() > 1 {
            let times = output.len();
            found.push(problem("content", format!("the call {} has {times} outputs, expected one", call.id)));
        }
        let Some(output) = output.first() else {
            found.push(problem("content", format!("the input has no output of the call {}", call.id)));
            continue;
        };
        let wanted = turn.outputs.get(&call.name).map(String::as_str).unwrap_or_default();
        if !holds(output, wanted) {
            found.push(problem(
                "content",
                format!("the output of the call {} differs from the case's output", call.id),
            ));
        }
    }
}

/// The request must repeat all that was said, and unchanged if only the server can read it.
fn of_conversation(
    case: &PlayedCase,
    turn: &PlayedTurn,
    (body, api): (&Value, &Api),
    found: &mut Vec<RequestProblem>,
) {
    let input = body.get(api.request.input).unwrap_or(&Value::Null);
    if !words(&case.request, api).iter().all(|said| holds(input, said)) {
        found.push(problem("content", "the text of the first message is not in the request"));
    }
    let has = |text: &String| text.is_empty() || holds(input, text);
    // A client may repeat the pieces of a text.
    let joined = || entries(body, api).iter().flat_map(said).collect::<String>();
    if !has(&turn.before.text())
        && !turn.before.texts.iter().all(has)
        && !joined().contains(&turn.before.text())
    {
        found.push(problem("content", "the text of the previous response is not in the request"));
    }
    let sent = sealed(input, api);
    let of_request = sealed(case.request.get(api.request.input).unwrap_or(&Value::Null), api);
    let mut known = turn.sealed.iter().chain(of_request);
    for entry in &sent {
        if !known.clone().any(|original| is_kept(entry, original)) {
            let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
            found.push(problem("content", format!("an entry `{kind}` of a response was changed")));
        }
    }
    // Before the results of calls, it is due; in other turns, it may be left out.
    let is_due = turn.step == Step::AnswerCalls;
    if let Some(lost) = known.find(|original| is_due && !sent.iter().any(|entry| is_kept(entry, original))) {
        let kind = lost.get("type").and_then(Value::as_str).unwrap_or_default();
        found.push(problem("content", format!("an entry `{kind}` of a response is not in the request")));
    }
}

/// A case with several steps was not exercised if a request is missing.
pub(crate) fn unsent(case: &PlayedCase, sent: &[Sent]) -> Option<String> {
    let due = case.turns.iter().filter(|turn| turn.step != Step::Resume).count();
    let body = |one: &Sent| -> Option<Value> {
        match one {
            Sent::Request(request, _) => serde_json::from_slice(&request.body).ok(),
            Sent::Message(message) => serde_json::from_str(message).ok(),
        }
    };
    let reached = sent.iter().filter_map(body).map(|body| case.turn(&body)).max().unwrap_or(0);
    (reached < due).then(|| format!("the client did not send request {} of {}", reached + 2, due + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_objects_that_create_a_response() {
        let dialect = spec::dialect("openai").unwrap();
        let case = crate::cases::cases(dialect).iter().find(|case| case.name == "text/hello.ws").unwrap();
        for message in ["hello", "[]", "{}", r#"{"type":"response.cancel"}"#] {
            let found = problems(case, "", dialect, &[Sent::Message(message.to_owned())]);
            assert_eq!(
                found.iter().map(|problem| problem.rule).collect::<Vec<_>>(),
                ["socket-message"],
                "{message}"
            );
        }
    }
}
