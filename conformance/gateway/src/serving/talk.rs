//! Clients on a WebSocket, before a server of requests: each message continues a response of the connection, and is answered like a
//! request with the whole history.

use std::collections::HashMap;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use axum::response::Response;
use checker::sse;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use spec::Dialect;
use spec::table::SessionShape;
use translation::{Question, Reply, Stop, Translator, Usage};

use super::context::entries;

/// Time of responses without output.
const NOW: u64 = 1_785_000_000;
/// Maximum number of responses of a connection that can be continued.
const MOST: usize = 1024;

type Answer = Box<dyn Fn(Bytes) -> BoxFuture<'static, Response> + Send + Sync>;

/// A client, with the histories of its responses by their ids.
pub struct Talk {
    front: &'static Dialect,
    shape: &'static SessionShape,
    answer: Answer,
    is_forgetful: bool,
    known: HashMap<String, Vec<Value>>,
    has_ended: bool,
}

impl Talk {
    /// The talk with a client of an API that has a WebSocket.
    pub fn new(
        front: &'static Dialect,
        answer: impl Fn(Bytes) -> BoxFuture<'static, Response> + Send + Sync + 'static,
    ) -> Option<Self> {
        let (shape, known) = (front.api.session.as_ref()?, HashMap::new());
        Some(Self { front, shape, answer: Box::new(answer), is_forgetful: false, known, has_ended: false })
    }

    /// The same, without memory of what is said before the first question.
    #[must_use]
    pub fn forgetful(self, is_forgetful: bool) -> Self {
        Self { is_forgetful, ..self }
    }

    /// The whole talk, until the client leaves.
    pub async fn run(mut self, mut socket: WebSocket) {
        while let Some(Ok(message)) = socket.recv().await {
            let text = match message {
                Message::Text(text) => text,
                Message::Ping(_) | Message::Pong(_) => continue,
                Message::Binary(_) | Message::Close(_) => return,
            };
            if self.hear(&text, &mut socket).await.is_none() {
                return;
            }
        }
    }

    /// Nothing if the client has left, or the answer broke off.
    async fn hear(&mut self, text: &str, socket: &mut WebSocket) -> Option<()> {
        let member = self.front.api.request.input;
        let mut request: Value = serde_json::from_str(text).unwrap_or_default();
        let own = entries(&request);
        let Some(members) = request.as_object_mut() else {
            return say(socket, &refusal(400, &json!({"message": "The message is no JSON object."}))).await;
        };
        members.shift_remove("type");
        let is_warm = members.shift_remove("generate") == Some(Value::Bool(false));
        let previous = members.shift_remove(self.shape.previous);
        let previous = previous.as_ref().and_then(Value::as_str);
        let known = previous.map_or(Some(Vec::new()), |id| self.known.get(id).cloned());
        let Some(mut input) = known else {
            let error = json!({"code": "previous_response_not_found", "param": self.shape.previous,
                "message": "There is no such response on this connection.", "type": "invalid_request_error"});
            return say(socket, &refusal(400, &error)).await;
        };
        input.extend(own);
        members.insert(member.to_owned(), json!(input));
        members.insert("stream".to_owned(), json!(true));
        if is_warm {
            if self.is_forgetful {
                input.clear();
            }
            return self.warm(&request, input, socket).await;
        }
        let body = Bytes::from(request.to_string());
        let response = (self.answer)(body).await;
        self.pass(response, input, socket).await
    }

    /// A response without output, which the next message can continue.
    async fn warm(&mut self, request: &Value, input: Vec<Value>, socket: &mut WebSocket) -> Option<()> {
        let question = Question::read(self.front.api, request);
        let reply = Reply {
            id: Some(format!("resp_warm{}", self.known.len())),
            stop: Some(Stop::Ended),
            usage: Some(Usage { input: Some(0), output: Some(0), ..Usage::default() }),
            is_ended: true,
            ..Reply::default()
        };
        let stream = Translator::new(self.front, self.front, &question, request, NOW).write(reply.deltas());
        self.events(&stream, &mut sse::Parser::default(), &input, socket).await
    }

    async fn pass(&mut self, response: Response, input: Vec<Value>, socket: &mut WebSocket) -> Option<()> {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut body = response.into_body().into_data_stream();
        if status >= 400 {
            let mut all = Vec::new();
            while let Some(Ok(chunk)) = body.next().await {
                all.extend_from_slice(&chunk);
            }
            let mut body = serde_json::from_slice::<Value>(&all).unwrap_or_default();
            let error = body.get_mut("error").map(Value::take).unwrap_or_default();
            let mut message = refusal(status, &error);
            let headers = headers
                .iter()
                .filter_map(|(name, value)| Some((name.to_string(), json!(value.to_str().ok()?))));
            message["headers"] = headers.collect::<serde_json::Map<_, _>>().into();
            return say(socket, &message).await;
        }
        let mut parser = sse::Parser::default();
        self.has_ended = false;
        while let Some(chunk) = body.next().await {
            // A connection that breaks tells the client.
            self.events(&chunk.ok()?, &mut parser, &input, socket).await?;
        }
        // The client of a stream that just ends would wait.
        self.has_ended.then_some(())
    }

    async fn events(
        &mut self,
        bytes: &[u8],
        parser: &mut sse::Parser,
        input: &[Value],
        socket: &mut WebSocket,
    ) -> Option<()> {
        let mut all = Vec::new();
        parser.push(bytes, &mut |frame| all.extend(frame.data.as_deref().map(str::to_owned)));
        for text in all {
            if text == "[DONE]" {
                continue;
            }
            let event: Value = serde_json::from_str(&text).unwrap_or_default();
            let output = event.pointer("/response/output").and_then(Value::as_array);
            let id = event.pointer("/response/id").and_then(Value::as_str);
            let is_end = event["type"].as_str().is_some_and(|kind| self.front.terminal.contains(&kind));
            self.has_ended |= is_end;
            if let (true, Some(id), Some(output), true) = (is_end, id, output, self.known.len() < MOST) {
                self.known.insert(id.to_owned(), [input, output].concat());
            }
            socket.send(Message::Text(text.into())).await.ok()?;
        }
        Some(())
    }
}

fn refusal(status: u16, error: &Value) -> Value {
    json!({"type": "error", "status": status, "error": error})
}

async fn say(socket: &mut WebSocket, message: &Value) -> Option<()> {
    socket.send(Message::Text(message.to_string().into())).await.ok()
}
