//! WebSocket messages, one JSON object per line.
//!
//! The direction of a message is given by the name of the member that contains it (`sent`, `recv`), or by a separate
//! member (`direction`, or `type` as in HTTP archives).

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ndjson;
use crate::capture::source::{framed, said};
use crate::capture::{CaptureError, Format};
use checker::{Entry, Frame, Loss, Transport};

#[derive(Deserialize, Default)]
struct MessageLine<'a> {
    #[serde(borrow, default, alias = "send")]
    sent: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "received", alias = "receive")]
    recv: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "closed", alias = "close")]
    exception: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "type")]
    direction: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "message", alias = "payload", alias = "text")]
    data: Option<&'a RawValue>,
    /// Seconds.
    #[serde(default, alias = "t", alias = "at")]
    time: Option<f64>,
}

enum Message<'a> {
    Sent(&'a RawValue),
    Received(&'a RawValue),
    Lost(&'a RawValue),
}

impl<'a> MessageLine<'a> {
    fn message(&self) -> Option<Message<'a>> {
        let by_name = self.sent.map(Message::Sent).or(self.recv.map(Message::Received));
        let lost = self.exception.or(self.error);
        by_name.or(lost.map(Message::Lost)).or_else(|| {
            let data = self.data?;
            match self.direction.as_deref()? {
                "sent" | "send" | "out" | "outgoing" | "client" => Some(Message::Sent(data)),
                "received" | "receive" | "recv" | "in" | "incoming" | "server" => {
                    Some(Message::Received(data))
                }
                _ => None,
            }
        })
    }
}

pub(in crate::capture) fn is_message(line: &[u8]) -> bool {
    // An `error` event has a type; a closed connection does not. Responses and refusals also have an `error`.
    let parsed: Option<MessageLine<'_>> = serde_json::from_slice(line).ok();
    parsed.is_some_and(|line| match line.message() {
        Some(Message::Lost(_)) => line.direction.is_none() && line.exception.is_some(),
        Some(_) => true,
        None => false,
    })
}

pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let mut failed = None;
    let mut lines = ndjson::Parser::default();
    let mut each = |frame: Frame<'_>| {
        if failed.is_none() {
            failed = message(frame, sink).err();
        }
    };
    lines.push(bytes, &mut each);
    lines.finish(&mut each);
    failed.map_or(Ok(()), Err)
}

/// Places refer to the message, which counts as one line.
pub(in crate::capture) fn frame(text: &str, line: u64, time: Option<Duration>) -> Frame<'_> {
    Frame { transport: Transport::WebSocket, time, ..framed(text, 0, line) }
}

fn message(frame: Frame<'_>, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let fail =
        |problem: String| CaptureError::Malformed { format: Format::WebSocket, line: frame.line, problem };
    let line: MessageLine<'_> =
        serde_json::from_slice(frame.source).map_err(|error| fail(error.to_string()))?;
    let message = line.message().ok_or_else(|| fail("the line has neither `sent` nor `recv`".to_owned()))?;
    let (Message::Sent(raw) | Message::Received(raw) | Message::Lost(raw)) = message;
    // A message is a string, or JSON as it was sent.
    let (text, places) = said(frame.source, raw);
    let frame = Frame {
        places,
        time: line.time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        data: Some(text.clone()),
        transport: Transport::WebSocket,
        ..frame
    };
    sink(match message {
        Message::Sent(_) => Entry::Sent(frame),
        Message::Received(_) => Entry::Event(frame),
        Message::Lost(_) => Entry::Lost(Loss::Broken(text)),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_no_messages() {
        assert!(!is_message(br#"{"type":"response.created","response":{}}"#));
        assert!(!is_message(br#"{"type":"error","error":{}}"#));
        assert!(is_message(br#"{"direction":"in","data":"{}"}"#));
        for body in [
            br#"{"object":"response","status":"failed","error":{"code":"server_error"}}"#.as_slice(),
            br#"{"error":{"message":"no such model","type":"invalid_request_error"}}"#,
            br#"{"error":"not found"}"#,
        ] {
            assert!(!is_message(body));
        }
    }
}
