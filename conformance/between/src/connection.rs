//! The connection of a client to the gateway during a test: requests of their own, or messages on a WebSocket.
//!
//! On a WebSocket, a message has what is new, and names the response that it continues. The exchange is recorded as if the whole
//! history had been sent in a request: that is what the upstream must get.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use harness::wire::{Socket, upgrade};
use serde_json::{Value, json};
use spec::Dialect;
use spec::table::SessionShape;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, LARGEST, Sent};
use crate::evidence::{Ended, Exchanged, Response};
use crate::session::RecordedRequest;
use crate::upstream::Playing;

/// Limit of an upgrade: Codex waits as long.
const UPGRADED: Duration = Duration::from_secs(15);

/// Time for the event that ends a response after an error.
const AFTER_ERROR: Duration = Duration::from_millis(300);

/// The type of a message that reports a failure.
const ERROR: &str = "error";

pub(crate) struct Connection<'c> {
    client: &'c Client,
    dialect: &'static Dialect,
    /// The messages of a WebSocket, if the test talks over one.
    shape: Option<&'static SessionShape>,
    /// Whether the first message has the instructions alone, and asks for no answer.
    is_warmed: bool,
    socket: Option<Socket>,
    /// The status of the upgrade; no other is tried then.
    upgrade: Option<u16>,
    known: Continuable,
}

#[derive(Default)]
struct Continuable {
    /// The response that the next message can continue.
    id: Option<String>,
    /// The entries of its request.
    asked: Vec<Value>,
    /// The same, with the output of each response in its own words.
    history: Vec<Value>,
}

impl Continuable {
    /// All of them, if the request does not continue what was said.
    fn rest(&mut self, input: &[Value]) -> Vec<Value> {
        let Some(behind) = input.strip_prefix(&*self.asked) else {
            *self = Self::default();
            return input.to_vec();
        };
        behind.iter().skip_while(|entry| !self.asked.is_empty() && is_of_model(entry)).cloned().collect()
    }
}

impl<'c> Connection<'c> {
    pub(crate) fn new(
        client: &'c Client,
        dialect: &'static Dialect,
        is_socket: bool,
        is_warmed: bool,
    ) -> Self {
        let shape = dialect.api.session.as_ref().filter(|_| is_socket);
        Self { client, dialect, shape, is_warmed, socket: None, upgrade: None, known: Continuable::default() }
    }

    pub(crate) async fn ask(
        &mut self,
        body: String,
        leaves_after: Option<u32>,
        playing: &Playing,
    ) -> Exchanged {
        let sent = self.client.asked(body);
        self.send(sent, leaves_after, playing).await
    }

    pub(crate) async fn repeat(&mut self, request: &RecordedRequest, playing: &Playing) -> Exchanged {
        let sent = self.client.recorded(request);
        self.send(sent, None, playing).await
    }

    async fn send(&mut self, sent: Sent, leaves_after: Option<u32>, playing: &Playing) -> Exchanged {
        let Some(shape) = self.shape else { return self.client.send(sent, leaves_after, playing).await };
        if self.socket.is_none() && self.upgrade.is_none_or(|status| status == 101) {
            self.known.id = None;
            self.connect(&sent).await;
        }
        let by = Instant::now() + self.client.limit(playing);
        let is_message = sent.body.trim_start().starts_with('{');
        let mut exchange = if self.socket.is_some() && is_message {
            self.talk(shape, &sent, leaves_after, by, playing).await
        } else {
            self.client.send(sent, leaves_after, playing).await
        };
        exchange.upgrade = self.upgrade;
        exchange
    }

    async fn connect(&mut self, sent: &Sent) {
        let by = Instant::now() + UPGRADED;
        let opened =
            timeout_at(by, upgrade(self.client.http(), &sent.url, sent.headers.clone(), LARGEST)).await;
        match opened {
            Ok(Ok((status, socket))) => (self.upgrade, self.socket) = (Some(status), socket),
            // No response came, or none that could be read.
            Ok(Err(_)) | Err(_) => self.upgrade = Some(0),
        }
    }

    async fn talk(
        &mut self,
        shape: &SessionShape,
        sent: &Sent,
        leaves_after: Option<u32>,
        by: Instant,
        playing: &Playing,
    ) -> Exchanged {
        let mut exchange = sent.exchange(playing.elapsed());
        let mut asked: Value = serde_json::from_str(&sent.body).unwrap_or_else(|_| json!({}));
        let mut message = asked.clone();
        for name in shape.http_only {
            message.as_object_mut().map(|members| members.shift_remove(*name));
        }
        message["type"] = json!("response.create");
        let member = self.dialect.api.request.input;
        let input = entries(message[member].take());
        if std::mem::take(&mut self.is_warmed) {
            self.warm(&message, member, &input, by).await;
            // The rest of a refused one must not answer the question.
            if self.known.id.is_none() {
                self.connect(sent).await;
            }
        }
        let mut rest = self.known.rest(&input);
        if rest.is_empty() {
            self.known = Continuable::default();
            rest.clone_from(&input);
        }
        let whole = [&*self.known.history, &*rest].concat();
        message[member] = match self.known.id.take() {
            None => json!(whole),
            Some(id) => {
                message[shape.previous] = json!(id);
                json!(rest)
            }
        };
        asked[member] = json!(whole);
        exchange.body = asked.to_string().into_bytes();
        let mut response = Response { status: 200, headers: stream_headers(), ..Response::default() };
        let output;
        (response.end, output) = match self.say(&message, by).await {
            Err(why) => (Ended::Broken(why), None),
            Ok(()) => self.listen(&mut response, leaves_after, by, playing).await,
        };
        if response.pieces.is_empty() {
            response.status = 101;
        }
        if let Some((id, output)) = output {
            self.known = Continuable { id, asked: input, history: [whole, output].concat() };
        }
        // After a failure, the whole history goes over a new connection, as Codex does it.
        if self.known.id.is_none() {
            self.socket = None;
        }
        response.ended_at = playing.elapsed();
        if response.end == Ended::Left {
            playing.left();
        }
        exchange.response = Some(response);
        exchange
    }

    /// The first entry alone is said, without an answer. An endpoint that refuses this gets it again with the question.
    async fn warm(&mut self, message: &Value, member: &str, input: &[Value], by: Instant) {
        let Some(first) = input.first() else { return };
        let mut warm = message.clone();
        warm[member] = json!([first]);
        warm["generate"] = json!(false);
        if self.say(&warm, by).await.is_err() {
            return;
        }
        while let Some(event) = self.hear(by).await {
            match ended(self.dialect, &event) {
                Some((id @ Some(_), _)) => {
                    self.known = Continuable { id, asked: vec![first.clone()], history: vec![first.clone()] };
                    return;
                }
                Some((None, _)) => return,
                None if event["type"] == ERROR => return,
                None => {}
            }
        }
    }

    async fn say(&mut self, message: &Value, by: Instant) -> Result<(), String> {
        let Some(socket) = &mut self.socket else { return Err("there is no connection".to_owned()) };
        match timeout_at(by, socket.send(Message::text(message.to_string()))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the message was not accepted in time".to_owned()),
        }
    }

    /// The next message, if one comes in time.
    async fn hear(&mut self, by: Instant) -> Option<Value> {
        let text = self.heard(by).await.ok()?;
        serde_json::from_str(&text).ok()
    }

    async fn heard(&mut self, by: Instant) -> Result<String, Ended> {
        loop {
            let Some(socket) = &mut self.socket else {
                return Err(Ended::Broken("there is no connection".to_owned()));
            };
            match timeout_at(by, socket.next()).await {
                Err(_) => return Err(Ended::Silent("no end in time".to_owned())),
                Ok(None) => return Err(Ended::Broken("the WebSocket ended".to_owned())),
                Ok(Some(Err(error))) => return Err(Ended::Broken(error.to_string())),
                Ok(Some(Ok(Message::Text(text)))) => return Ok(text.as_str().to_owned()),
                Ok(Some(Ok(Message::Close(_)))) => {
                    return Err(Ended::Broken("the WebSocket was closed".to_owned()));
                }
                Ok(Some(Ok(Message::Binary(_)))) => {
                    return Err(Ended::Broken("a message is binary".to_owned()));
                }
                Ok(Some(Ok(_))) => {}
            }
        }
    }

    /// Each message is recorded as an event of a stream, and a refusal as a body.
    async fn listen(
        &mut self,
        response: &mut Response,
        leaves_after: Option<u32>,
        by: Instant,
        playing: &Playing,
    ) -> (Ended, Option<Output>) {
        let (mut size, mut last) = (0, by);
        loop {
            let text = match self.heard(by.min(last)).await {
                Ok(text) => text,
                Err(Ended::Silent(_)) if last < by => return (Ended::Complete, None),
                Err(end) => return (end, None),
            };
            let event: Value = serde_json::from_str(&text).unwrap_or_default();
            let kind = event["type"].as_str().unwrap_or_default();
            if let Some(status) = refused(&event).filter(|_| response.pieces.is_empty()) {
                let body = json!({"error": event["error"]}).to_string();
                (response.status, response.headers) = (status, refusal_headers(&event));
                response.pieces.push((playing.elapsed(), body.into_bytes()));
                return (Ended::Complete, None);
            }
            size += text.len();
            if size > LARGEST {
                return (Ended::Broken(format!("the response is longer than {LARGEST} bytes")), None);
            }
            let data = text.lines().fold(String::new(), |data, line| data + "data: " + line + "\n");
            let piece = format!("event: {kind}\n{data}\n").into_bytes();
            let at = playing.elapsed();
            playing.received(&piece);
            response.pieces.push((at, piece));
            if kind == ERROR {
                last = Instant::now() + AFTER_ERROR;
            } else if let Some(output) = ended(self.dialect, &event) {
                return (Ended::Complete, Some(output).filter(|(id, _)| id.is_some()));
            }
            if leaves_after.is_some_and(|count| response.pieces.len() >= count as usize) {
                return (Ended::Left, None);
            }
        }
    }
}

type Output = (Option<String>, Vec<Value>);

/// The end of a response. One that failed has no id.
fn ended(dialect: &Dialect, event: &Value) -> Option<Output> {
    let kind = event["type"].as_str().filter(|kind| dialect.terminal.contains(kind))?;
    let response = &event["response"];
    let is_good = kind != "response.failed";
    let id = response["id"].as_str().filter(|_| is_good).map(str::to_owned);
    Some((id, response["output"].as_array().cloned().unwrap_or_default()))
}

/// An entry that the model said.
fn is_of_model(entry: &Value) -> bool {
    let is_output = entry["type"].as_str().is_some_and(|kind| kind.ends_with("_output"));
    !is_output && !matches!(entry["role"].as_str(), Some("user" | "system" | "developer"))
}

fn refused(event: &Value) -> Option<u16> {
    let status = event.get("status").filter(|_| event["type"] == ERROR)?.as_u64()?;
    u16::try_from(status).ok().filter(|status| *status >= 400)
}

/// Headers of a refusal are in its message.
fn refusal_headers(event: &Value) -> Vec<(String, String)> {
    let own = event.get("headers").and_then(Value::as_object).into_iter().flatten();
    let own = own.filter_map(|(name, value)| Some((name.to_ascii_lowercase(), value.as_str()?.to_owned())));
    own.chain([("content-type".to_owned(), "application/json".to_owned())]).collect()
}

fn stream_headers() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "text/event-stream".to_owned())]
}

/// A text is an entry of the user.
fn entries(input: Value) -> Vec<Value> {
    match input {
        Value::Array(entries) => entries,
        text => vec![json!({"role": "user", "content": text})],
    }
}
