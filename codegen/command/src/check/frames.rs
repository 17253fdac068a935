//! A minimal parser for the formats of goldens: server-sent events, WebSocket logs, and HTTP responses that
//! are not streams.

use serde::Deserialize;
use serde_json::{Map, Value};

/// One event or comment of a stream, a message on a WebSocket, or the body of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its first line, counted from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) event: Option<String>,
    /// For server-sent events, the joined `data` lines.
    pub(super) data: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Server-sent event or comment.
    #[default]
    Event,
    /// WebSocket message of the client.
    Sent,
    /// WebSocket message of the server.
    Received,
    /// Body of a response with this status.
    Body(u16),
}

/// The name in edits of an event whose data says no name.
const UNNAMED: &str = "data";

impl Frame {
    pub(super) fn name(&self) -> Option<String> {
        let data = self.data.as_deref()?;
        let member = |name: &str| {
            let data: Value = serde_json::from_str(data).ok()?;
            data.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let inside = || member("type");
        let unnamed = || member("object").unwrap_or_else(|| UNNAMED.to_owned());
        match self.kind {
            Kind::Event if data == "[DONE]" => Some(data.to_owned()),
            Kind::Event => inside().or_else(|| self.event.clone()).or_else(|| Some(unnamed())),
            Kind::Sent => Some(format!(">{}", inside().unwrap_or_default())),
            Kind::Received => inside(),
            Kind::Body(_) => Some("body".to_owned()),
        }
    }
}

/// Splits a golden into frames. An error has the line and the message.
type Reader = fn(&str) -> Result<Vec<Frame>, (usize, String)>;

pub(super) fn reader(extension: &str) -> Option<Reader> {
    match extension {
        "sse" => Some(stream),
        "jsonl" => Some(log),
        "http" => Some(answer),
        _ => None,
    }
}

fn stream(text: &str) -> Result<Vec<Frame>, (usize, String)> {
    let mut frames = Vec::new();
    let mut current: Option<Frame> = None;
    let mut number = 0;
    for (index, line) in text.lines().enumerate() {
        number = index + 1;
        if line.is_empty() {
            frames.extend(current.take());
            continue;
        }
        let frame = current.get_or_insert_with(|| Frame { line: number, ..Frame::default() });
        match line.split_once(':') {
            Some(("", _)) => {}
            Some(("event", value)) => frame.event = Some(value.trim_start().to_owned()),
            Some(("data", value)) => {
                let value = value.strip_prefix(' ').unwrap_or(value);
                match &mut frame.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => frame.data = Some(value.to_owned()),
                }
            }
            _ => return Err((number, format!("`{line}` is not a line of an event stream"))),
        }
    }
    match current {
        Some(_) => Err((number, "no blank line ends the last event".to_owned())),
        None => Ok(frames),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    sent: Option<Map<String, Value>>,
    recv: Option<Map<String, Value>>,
    /// Seconds.
    #[serde(rename = "time")]
    _time: Option<f64>,
}

fn log(text: &str) -> Result<Vec<Frame>, (usize, String)> {
    let message = |(index, line): (usize, &str)| {
        let line_number = index + 1;
        let fail = |problem: String| (line_number, problem);
        let (kind, data) = match serde_json::from_str(line).map_err(|error| fail(error.to_string()))? {
            Message { sent: Some(data), recv: None, .. } => (Kind::Sent, data),
            Message { sent: None, recv: Some(data), .. } => (Kind::Received, data),
            _ => return Err(fail("expected {\"sent\":{...}} or {\"recv\":{...}}".to_owned())),
        };
        Ok(Frame { line: line_number, kind, event: None, data: Some(Value::Object(data).to_string()) })
    };
    text.lines().enumerate().map(message).collect()
}

fn answer(text: &str) -> Result<Vec<Frame>, (usize, String)> {
    let (head, body) =
        text.split_once("\r\n\r\n").ok_or((1, "no blank line (CRLF CRLF) ends the headers".to_owned()))?;
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or((1, "expected a status line such as `HTTP/1.1 200 OK`".to_owned()))?;
    let line = head.lines().count() + 2;
    Ok(vec![Frame { line, kind: Kind::Body(status), event: None, data: Some(body.to_owned()) }])
}
