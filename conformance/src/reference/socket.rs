//! Turns on a WebSocket: a `response.create` from the client, the events of the answer from the gateway.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};

use super::context::Turn;
use super::ids::tagged;
use super::problem::Problem;
use super::server::Gateway;

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
        for event in turn(&gateway, text.as_str(), &mut said) {
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
fn turn(gateway: &Gateway, message: &str, said: &mut Vec<Turn>) -> Vec<String> {
    match asked(message).and_then(|request| gateway.make(request, said)) {
        Err(problem) => vec![envelope(&problem)],
        Ok(made) => {
            said.push(made.turn);
            let data = |event: &String| {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
                let is_event = data.starts_with('{');
                is_event.then(|| String::from_utf8_lossy(&tagged(data.as_bytes(), &made.tag)).into_owned())
            };
            made.answer.events.iter().filter_map(data).collect()
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
fn envelope(problem: &Problem) -> String {
    let mut body = problem.body();
    json!({"type": "error", "status": problem.status, "error": body["error"].take()}).to_string()
}
