//! Events as both sides get them: the frames of a stream of server-sent events.

use std::fmt::Write as _;

use serde_json::Value;

/// A frame with data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// Its `event:` line.
    pub(crate) line: Option<String>,
    /// Its data; text that is not JSON, such as `[DONE]`, is a string.
    pub(crate) data: Value,
}

impl Event {
    /// Reads the events of a stream.
    pub(crate) fn all(stream: &[u8]) -> Vec<Self> {
        let text = String::from_utf8_lossy(stream);
        let (mut events, mut line, mut data) = (Vec::new(), None, Vec::new());
        for part in text.lines().chain([""]) {
            if let Some(name) = part.strip_prefix("event:") {
                line = Some(name.trim_start().to_owned());
            } else if let Some(more) = part.strip_prefix("data:") {
                data.push(more.strip_prefix(' ').unwrap_or(more));
            } else if part.is_empty() {
                let (joined, line) = (data.join("\n"), line.take());
                if !data.is_empty() {
                    let data = serde_json::from_str(&joined).unwrap_or(Value::String(joined));
                    events.push(Self { line, data });
                }
                data.clear();
            }
        }
        events
    }

    /// Writes events as a stream.
    pub(crate) fn stream(events: &[Self]) -> Vec<u8> {
        let mut stream = String::new();
        for event in events {
            if let Some(line) = &event.line {
                _ = writeln!(stream, "event: {line}");
            }
            _ = match &event.data {
                Value::String(text) => write!(stream, "data: {text}\n\n"),
                json => write!(stream, "data: {json}\n\n"),
            };
        }
        stream.into_bytes()
    }

    /// Returns the type, which Chat Completions does not have.
    pub(crate) fn kind(&self) -> &str {
        self.text("/type").unwrap_or_default()
    }

    /// Returns whether it is the marker that ends some streams.
    pub(crate) fn is_marker(&self) -> bool {
        self.data.as_str().is_some_and(|data| data.trim() == "[DONE]")
    }

    /// Returns a text in its data.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.data.pointer(pointer)?.as_str()
    }

    /// Returns a number in its data.
    pub(crate) fn number(&self, pointer: &str) -> Option<u64> {
        self.data.pointer(pointer)?.as_u64()
    }
}
