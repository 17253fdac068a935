//! Turns on a WebSocket, with their recording.

use catalogue::Scenario;
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::header::HeaderMap;
use spec::Dialect;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::batch::{Batch, Step};
use super::client::{Client, Limit, Outcome, Sending};
use super::handshake::{Socket, handshake, opened};
use super::limits::{Volume, in_time, too_long};
use crate::plan::{Call, PreviousResponse, RequestContext, message, messages};
use recordings::capture::{Loss, Recorder};

/// Time to wait for the end of a response after an error.
const AFTER_ERROR: Duration = Duration::from_secs(2);
/// Timeout of closing the connection.
const CLOSING: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Conversation<'s> {
    pub(crate) turns: &'s [&'static Scenario],
    pub(crate) context: RequestContext<'s>,
    pub(crate) before: Option<&'s PreviousResponse>,
    /// The dialect, which defines terminal events.
    pub(crate) dialect: &'static Dialect,
}

impl Client {
    /// Passes on the lines of the recording.
    pub(crate) async fn talk(
        &self,
        conversation: &Conversation<'_>,
        by: Instant,
        keep: &mut (dyn FnMut(&str) + Send),
    ) -> Outcome {
        let (key, headers) = handshake(self.target().headers(true));
        let call = Call::upgrade();
        let mut sending = self.sending(&call, &headers, by, keep);
        let lost = tokio::select! {
            biased;
            () = self.run_ends() => Some(Loss::Interrupted),
            talked = sending.talk(conversation, headers, &key) => talked.err(),
        };
        sending.end(lost)
    }
}

impl Sending<'_> {
    async fn talk(
        &mut self,
        conversation: &Conversation<'_>,
        headers: HeaderMap,
        key: &str,
    ) -> Result<(), Loss<'static>> {
        let request = self.client.upgrading().get(self.client.target().url().clone()).headers(headers);
        let mut response = self.ask(request).await?;
        if response.status() != 101 {
            return self.read(&mut response).await;
        }
        let mut socket = opened(response, key, self.client.limits().bytes).await?;
        let mut volume = Volume::default();
        self.turns(conversation, &mut socket, &mut volume).await?;
        self.close(&mut socket, &mut volume).await;
        Ok(())
    }

    /// Ends early if an answer is not as expected.
    async fn turns(
        &mut self,
        conversation: &Conversation<'_>,
        socket: &mut Socket,
        volume: &mut Volume,
    ) -> Result<(), String> {
        let mut before = conversation.before.cloned();
        let mut due = messages(conversation.turns).peekable();
        while let Some((mut batch, said)) = Batch::next(&mut due) {
            for (turn, lane) in said {
                let text = message(turn, lane, &conversation.context, before.as_ref(), conversation.dialect);
                batch.add(turn, lane, &text, conversation.dialect);
                self.say(socket, &text).await?;
            }
            self.listen(socket, conversation, &mut batch, &mut before, volume).await?;
            if !batch.is_as_expected() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn say(&mut self, socket: &mut Socket, text: &str) -> Result<(), String> {
        self.keep(&Recorder::new().sent(self.elapsed(), text));
        match timeout_at(self.by, socket.send(Message::text(text))).await {
            Err(_) => Err(format!("a message was not accepted {}", self.limit(Limit::Total))),
            Ok(Err(error)) => Err(broken(&error, self.client.limits().bytes)),
            Ok(Ok(())) => Ok(()),
        }
    }

    async fn listen(
        &mut self,
        socket: &mut Socket,
        conversation: &Conversation<'_>,
        batch: &mut Batch,
        before: &mut Option<PreviousResponse>,
        volume: &mut Volume,
    ) -> Result<(), String> {
        let limits = *self.client.limits();
        let mut due = (Instant::now() + limits.first_event, Limit::FirstEvent);
        let mut after_error = None;
        while !batch.is_over() {
            let (by, what) = if due.0 < self.by { due } else { (self.by, Limit::Total) };
            let next = match in_time(after_error.unwrap_or(by).min(by), socket.next()).await {
                None if after_error.is_some() => return Ok(()),
                None => return Err(format!("no message {}", self.limit(what))),
                Some(next) => next,
            };
            let text = self.heard(next, volume)?;
            let Some(text) = text else { continue };
            due = (Instant::now() + limits.idle, Limit::Idle);
            *before = PreviousResponse::ended(&text, conversation.dialect).or(before.take());
            match batch.hear(&text, conversation.dialect) {
                Step::Listen => {}
                Step::Send(turn, about) => {
                    let message = message(turn, None, &conversation.context, about, conversation.dialect);
                    self.say(socket, &message).await?;
                }
                Step::Wind => drop(after_error.get_or_insert(Instant::now() + AFTER_ERROR)),
            }
        }
        Ok(())
    }

    /// Every frame is recorded. Only messages are returned.
    fn heard(
        &mut self,
        next: Option<Result<Message, Error>>,
        volume: &mut Volume,
    ) -> Result<Option<String>, String> {
        let limit = self.client.limits().bytes;
        if let Some(Ok(message)) = &next {
            volume.add(message.len(), limit)?;
        }
        match next {
            None => Err("the connection ended".to_owned()),
            Some(Err(error)) => Err(broken(&error, limit)),
            Some(Ok(Message::Text(text))) => {
                let text = self.masked(text.as_str());
                self.keep(&Recorder::new().received(self.elapsed(), &text));
                Ok(Some(text))
            }
            Some(Ok(Message::Binary(_))) => Err("a message is binary, not text".to_owned()),
            Some(Ok(Message::Close(frame))) => {
                let words = closed(frame.as_ref());
                Err(self.masked(&words))
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(None),
        }
    }

    /// Messages until the close are recorded.
    async fn close(&mut self, socket: &mut Socket, volume: &mut Volume) {
        let by = self.by.min(Instant::now() + CLOSING);
        let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        let _ = timeout_at(by, socket.close(Some(normal))).await;
        while let Some(next) = in_time(by, socket.next()).await {
            if self.heard(next, volume).is_err() {
                return;
            }
        }
    }
}

fn closed(frame: Option<&CloseFrame>) -> String {
    let Some(CloseFrame { code, reason }) = frame else {
        return "the endpoint closed the WebSocket without a code".to_owned();
    };
    let meaning = match code {
        CloseCode::Normal => " (normal)",
        CloseCode::Away => " (going away)",
        CloseCode::Protocol => " (protocol error)",
        CloseCode::Unsupported => " (unsupported data)",
        CloseCode::Invalid => " (invalid data)",
        CloseCode::Policy => " (policy violation)",
        CloseCode::Size => " (message too big)",
        CloseCode::Error => " (internal error)",
        CloseCode::Restart => " (restart)",
        CloseCode::Again => " (try again later)",
        _ => "",
    };
    let reason = if reason.is_empty() { String::new() } else { format!(": {:?}", reason.as_str()) };
    format!("the endpoint closed the WebSocket with code {}{meaning}{reason}", u16::from(*code))
}

fn broken(error: &Error, limit: usize) -> String {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => too_long(limit),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) | Error::Io(_) => {
            "the connection broke without a WebSocket close frame".to_owned()
        }
        Error::ConnectionClosed | Error::AlreadyClosed => "the connection ended".to_owned(),
        other => format!("the WebSocket cannot be read: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_a_meaning() {
        let frame = |code: u16, reason: &'static str| CloseFrame { code: code.into(), reason: reason.into() };
        for (frame, words) in [
            (Some(frame(1011, "")), "with code 1011 (internal error)"),
            (Some(frame(1013, "busy\u{1b}[2J")), "with code 1013 (try again later): \"busy\\u{1b}[2J\""),
            (Some(frame(4000, "")), "with code 4000"),
            (None, "without a code"),
        ] {
            assert_eq!(closed(frame.as_ref()), format!("the endpoint closed the WebSocket {words}"));
        }
    }
}
