//! Turns on a WebSocket: a `response.create` from the client, the events of the answer from the gateway.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use spec::catalogue::{self, Rule};

use super::context::Turn;
use super::ids::tagged;
use super::mcp::Servers;
use super::problem::Problem;
use super::script::text;
use super::server::Gateway;
use super::store::unknown_previous;
use super::voice::Voice;
use crate::Rules;

/// Talks until the client leaves. What was said here can be continued here, stored or not.
pub(super) async fn talk(gateway: Arc<Gateway>, mut socket: WebSocket) {
    let mut said = Vec::new();
    while let Some(Ok(message)) = socket.recv().await {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => "".into(),
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let request = asked(text.as_str());
        let servers = match &request {
            Ok(request) => Servers::ask(request).await,
            Err(_) => Servers::default(),
        };
        for event in turn(&gateway, request, &mut said, &servers) {
            if !gateway.settings.pace.is_zero() {
                tokio::time::sleep(gateway.settings.pace).await;
            }
            if socket.send(Message::Text(event.into())).await.is_err() {
                return;
            }
        }
    }
}

/// What is said to a message of the client.
fn turn(
    gateway: &Gateway,
    request: Result<Value, Problem>,
    said: &mut Vec<Turn>,
    servers: &Servers,
) -> Vec<String> {
    let breaks = |id: &str| gateway.settings.rules.iter().any(|rule| rule.id == id);
    let previous = request.as_ref().ok().and_then(|request| text(request, "previous_response_id"));
    if let Some(id) = previous.filter(|_| breaks("ws/unknown-previous-id")) {
        // It is continued as if it was known.
        let turn = Turn { id: id.to_owned(), context: Vec::new() };
        said.push(turn);
    }
    let continued = previous.map(str::to_owned);
    let is_latest = said.last().is_some_and(|turn| Some(&turn.id) == continued.as_ref());
    let request = match &continued {
        Some(id) if is_latest && breaks("ws/latest-kept") => Err(unknown_previous(id)),
        _ => request,
    };
    match request.and_then(|request| gateway.make(request, said, servers)) {
        Err(_) if breaks("ws/answers-create") => Vec::new(),
        Err(problem) => {
            // A turn that fails takes the response that it continues with it.
            said.retain(|turn| continued.as_ref() != Some(&turn.id));
            vec![envelope(&problem, !breaks("ws/error-envelope"))]
        }
        Ok(made) => {
            said.push(made.turn);
            let events = |tag: &str| -> Vec<String> {
                let data = |event: &String| {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
                    let is_event = data.starts_with('{');
                    is_event.then(|| String::from_utf8_lossy(&tagged(data.as_bytes(), tag)).into_owned())
                };
                made.answer.events.iter().filter_map(data).collect()
            };
            let mut all = events(&made.tag);
            if breaks("ws/one-in-flight") {
                // Another response begins in the place of the end.
                all.pop();
                all.extend(events(&format!("{}f", made.tag)));
            }
            all
        }
    }
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
const FAULTS: [(&str, &str); 5] = [
    ("ws/answers-create", "what is refused, on a WebSocket"),
    ("ws/error-envelope", "what is refused, on a WebSocket"),
    ("ws/latest-kept", "a turn that continues the one before it, on a WebSocket"),
    ("ws/one-in-flight", "anything, on a WebSocket"),
    ("ws/unknown-previous-id", "an unknown previous_response_id with store false, on a WebSocket"),
];

/// The rules that can be broken in turns on a WebSocket, each with the turn in which it is.
pub fn socket_faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let is_spoken = Voice::of(rules.dialect(), 0).is_typed();
    let known = FAULTS.into_iter().filter(|_| is_spoken);
    let bound = known.filter(|(id, _)| rules.iter().any(|rule| rule.id == *id));
    bound.filter_map(|(id, turn)| Some((catalogue::rule(id)?, turn))).collect()
}
