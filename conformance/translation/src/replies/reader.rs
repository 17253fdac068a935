//! Reads a response as it arrives.

use std::mem;

use checker::sse;
use serde_json::Value;
use spec::{Api, json};

use super::delta::Delta;
use super::reading::{Reading, error};

/// Reads the stream of a response, and returns the deltas of each event. Unreadable events are left out.
#[derive(Debug)]
pub struct ReplyReader {
    parser: sse::Parser,
    reading: Reading,
}

impl ReplyReader {
    /// Creates a reader for a response of an API.
    pub fn new(api: &'static Api) -> Self {
        Self { parser: sse::Parser::default(), reading: Reading::new(api) }
    }

    /// Returns the deltas of a whole stream.
    pub fn all(api: &'static Api, stream: &[u8]) -> Vec<Delta> {
        let mut reader = Self::new(api);
        let mut deltas = reader.push(stream);
        deltas.extend(reader.finish());
        deltas
    }

    /// Reads the next bytes of a stream of server-sent events.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Delta> {
        let mut parser = mem::take(&mut self.parser);
        parser.push(bytes, &mut |frame| {
            if let Some(data) = &frame.data {
                self.read(frame.event.as_deref(), data);
            }
        });
        self.parser = parser;
        self.take()
    }

    /// Ends the stream. Of an unfinished event at its end, clients read what is JSON.
    pub fn finish(&mut self) -> Vec<Delta> {
        let mut parser = mem::take(&mut self.parser);
        parser.finish(&mut |frame| {
            let data = frame.data.as_deref().unwrap_or_default();
            if data == DONE || object(data).is_some() {
                self.read(frame.event.as_deref(), data);
            }
        });
        self.end();
        self.take()
    }

    /// Reads the data of one event, with the value of its `event` line if it has one.
    pub fn event(&mut self, name: Option<&str>, data: &str) -> Vec<Delta> {
        self.read(name, data);
        self.take()
    }

    /// Reads the body of a response.
    pub fn body(&mut self, body: &Value) -> Vec<Delta> {
        self.reading.body(body);
        self.take()
    }

    /// A body can be a list of events.
    pub(super) fn list(&mut self, events: &[Value]) -> Vec<Delta> {
        for event in events {
            self.reading.event("", event);
        }
        self.end();
        self.take()
    }

    fn read(&mut self, name: Option<&str>, data: &str) {
        if data == DONE {
            let parts = &mut self.reading.parts;
            // The marker counts if the response has stopped.
            if parts.api.marker_ends && !parts.api.is_stream_of_bodies() && parts.has_stopped() {
                parts.end();
            }
            return;
        }
        let Some(event) = object(data) else {
            self.reading.parts.out.push(Delta::Garbled(data.to_owned()));
            return;
        };
        let kind = event.get("type").and_then(Value::as_str).or(name).unwrap_or_default();
        if kind == "error" || kind.is_empty() && event.get("error").is_some_and(|error| !error.is_null()) {
            self.reading.parts.out.push(Delta::Failed(error(&event)));
        } else {
            self.reading.event(kind, &event);
        }
    }

    /// In an API without another end, the end of the stream ends a response that has stopped.
    fn end(&mut self) {
        let parts = &mut self.reading.parts;
        if parts.api.is_stream_of_bodies() && parts.has_stopped() {
            parts.end();
        }
    }

    fn take(&mut self) -> Vec<Delta> {
        mem::take(&mut self.reading.parts.out)
    }
}

/// The marker at the end of a stream.
const DONE: &str = "[DONE]";

fn object(data: &str) -> Option<Value> {
    json(data).filter(Value::is_object)
}

/// Half of a character is U+FFFD, as clients read it.
pub(super) fn json(data: &str) -> Option<Value> {
    lenient(data, DEEPEST)
}

/// Number of objects and lists around a value.
const DEEPEST: u8 = 64;

fn lenient(data: &str, deepest: u8) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(data) {
        return Some(value);
    }
    if !data.contains("\\ud") && !data.contains("\\uD") {
        return None;
    }
    let inner = |value| lenient(value, deepest.checked_sub(1)?);
    match data.trim_start().as_bytes().first()? {
        b'{' => {
            json::members(data)?.into_iter().map(|(name, it)| Some((name.into_owned(), inner(it)?))).collect()
        }
        b'[' => json::entries(data)?.into_iter().map(inner).collect(),
        _ => Some(json::string(data)?.into_owned().into()),
    }
}
