//! Turns on a WebSocket: a `response.create` from the client, the events of the answer from the gateway.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::ws::{Message, WebSocket};
use catalogue::Rule;
use serde_json::{Value, json};
use spec::Dialect;

use super::Wire;
use super::context::Turn;
use super::faults::Faults;
use super::ids::tagged;
use super::mcp::Servers;
use super::problem::Problem;
use super::script::text;
use super::server::Gateway;
use super::store::unknown_previous;
use super::voice::Voice;
use checker::Rules;

/// Talks until the client leaves. What was said here can be continued here, stored or not.
pub(super) async fn talk(gateway: Arc<Gateway>, mut socket: WebSocket, faults: Faults) {
    let began = Instant::now();
    let mut said = Vec::new();
    while let Some(Ok(message)) = socket.recv().await {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => "".into(),
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let is_late = began.elapsed() >= gateway.settings.socket_limit;
        let request = if is_late { Err(limit_reached()) } else { asked(text.as_str()) };
        let servers = match &request {
            Ok(request) => Servers::ask(request).await,
            Err(_) => Servers::default(),
        };
        let mut faults = faults.clone();
        let request = request.and_then(|request| faults.add_request(&request).map(|()| request));
        let events = turn(&gateway, request, &mut said, &servers, &mut faults);
        gateway.settings.note(&format!("WebSocket turn, {} messages", events.len()), &faults);
        let is_begun = !events.is_empty();
        let is_over = |event: &String| ends(event, gateway.settings.dialect);
        let is_ended = events.iter().any(is_over);
        for event in events {
            if !gateway.settings.pace.is_zero() {
                tokio::time::sleep(gateway.settings.pace).await;
            }
            if socket.send(Message::Text(event.into())).await.is_err() {
                return;
            }
        }
        if is_begun && !is_ended {
            // As a stream ends: nobody has to find out by waiting.
            return;
        }
    }
}

/// Whether no more comes in a turn after an event.
fn ends(event: &str, dialect: &Dialect) -> bool {
    let kind = spec::json::at(event, "/type").and_then(|kind| serde_json::from_str::<String>(kind).ok());
    kind.is_some_and(|kind| kind == "error" || dialect.terminal.contains(&&*kind))
}

/// What is said to a message of the client.
fn turn(
    gateway: &Gateway,
    request: Result<Value, Problem>,
    said: &mut Vec<Turn>,
    servers: &Servers,
    faults: &mut Faults,
) -> Vec<String> {
    let previous = request.as_ref().ok().and_then(|request| text(request, "previous_response_id"));
    if let Some(id) = previous
        && said.iter().all(|turn| turn.id != id)
        && faults.applies("ws/unknown-previous-id")
    {
        // It is continued as if it was known.
        let turn = Turn { id: id.to_owned(), context: Vec::new() };
        said.push(turn);
    }
    let continued = previous.map(str::to_owned);
    let is_latest = said.last().is_some_and(|turn| Some(&turn.id) == continued.as_ref());
    let request = match &continued {
        Some(id) if is_latest && faults.applies("ws/latest-kept") => Err(unknown_previous(id)),
        _ => request,
    };
    match request.and_then(|request| gateway.make(request, true, said, servers, faults)) {
        Err(problem) => {
            if faults.applies("ws/answers-create") {
                return Vec::new();
            }
            // A turn that fails takes the response that it continues with it.
            said.retain(|turn| continued.as_ref() != Some(&turn.id));
            vec![envelope(&problem, !faults.applies("ws/error-envelope"))]
        }
        Ok(made) => {
            said.push(made.turn);
            let mut all: Vec<String> =
                made.stream.iter().flat_map(Wire::events).filter_map(|event| data(&event)).collect();
            if faults.applies("ws/one-in-flight") {
                // Another response begins in the place of the end.
                all.pop();
                let other = made
                    .answer
                    .events
                    .iter()
                    .map(|event| tagged(event.as_bytes(), &format!("{}f", made.tag)));
                all.extend(other.filter_map(|event| data(&event)));
            }
            all
        }
    }
}

/// What is said on a connection that has lived long enough.
fn limit_reached() -> Problem {
    let message = "This connection has reached its limit of 60 minutes. Open another one to go on.";
    Problem::invalid("websocket_connection_limit_reached", message, None)
}

/// The data of an event, as the message that it is on a WebSocket.
fn data(event: &[u8]) -> Option<String> {
    let event = String::from_utf8_lossy(event);
    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
    (data != "[DONE]").then(|| data.to_owned())
}

/// The request in a message.
fn asked(message: &str) -> Result<Value, Problem> {
    let invalid = |message: &str| Problem::invalid("invalid_value", message, Some("type"));
    let mut request: Value =
        serde_json::from_str(message).map_err(|_| invalid("The message is no JSON object."))?;
    let kind = request.as_object_mut().and_then(|members| members.shift_remove("type"));
    if kind != Some(json!("response.create")) {
        return Err(invalid("The message is no response.create."));
    }
    Ok(request)
}

/// An error, as it is told on a WebSocket.
fn envelope(problem: &Problem, has_status: bool) -> String {
    let mut envelope = json!({"type": "error", "error": problem.body()["error"].take()});
    if has_status {
        envelope["status"] = json!(problem.status);
    }
    envelope.to_string()
}

/// Rules that are broken in turns on a WebSocket, and what to say for it.
pub(super) const SOCKET_FAULTS: [(&str, &str); 5] = [
    ("ws/answers-create", "what is refused, on a WebSocket"),
    ("ws/error-envelope", "what is refused, on a WebSocket"),
    ("ws/latest-kept", "a turn that continues the one before it, on a WebSocket"),
    ("ws/one-in-flight", "anything, on a WebSocket"),
    ("ws/unknown-previous-id", "an unknown previous_response_id with store false, on a WebSocket"),
];

/// The rules that can be broken in turns on a WebSocket, each with the turn in which it is.
pub fn socket_faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let is_spoken = Voice::of(rules.dialect(), 0).is_typed();
    let known = SOCKET_FAULTS.into_iter().filter(|_| is_spoken);
    let bound = known.filter(|(id, _)| rules.iter().any(|rule| rule.id == *id));
    bound.filter_map(|(id, turn)| Some((catalogue::rule(id)?, turn))).collect()
}
