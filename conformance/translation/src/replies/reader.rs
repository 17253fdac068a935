//! Reads a response as it arrives.

use std::mem;

use checker::sse;
use serde_json::Value;
use spec::Api;

use super::delta::Delta;
use super::parts::Parts;
use super::reading::{Reading, error, reading};

/// Reads the stream of a response, and returns the deltas of each event. Unreadable events are left out.
#[derive(Debug)]
pub struct ReplyReader {
    parser: sse::Parser,
    reading: Box<dyn Reading>,
    parts: Parts,
}

impl ReplyReader {
    /// Creates a reader for a response of an API.
    pub fn new(api: &'static Api) -> Self {
        Self { parser: sse::Parser::default(), reading: reading(api), parts: Parts::new(api) }
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
        self.reading.end(&mut self.parts);
        self.take()
    }

    /// Reads the data of one event, with the value of its `event` line if it has one.
    pub fn event(&mut self, name: Option<&str>, data: &str) -> Vec<Delta> {
        self.read(name, data);
        self.take()
    }

    /// Reads the body of a response.
    pub fn body(&mut self, body: &Value) -> Vec<Delta> {
        self.reading.body(&mut self.parts, body);
        self.take()
    }

    /// A body can be a list of events.
    pub(super) fn list(&mut self, events: &[Value]) -> Vec<Delta> {
        for event in events {
            self.reading.event(&mut self.parts, "", event);
        }
        self.reading.end(&mut self.parts);
        self.take()
    }

    fn read(&mut self, name: Option<&str>, data: &str) {
        if data == DONE {
            self.reading.done(&mut self.parts);
            return;
        }
        let Some(event) = object(data) else {
            self.parts.out.push(Delta::Garbled(data.to_owned()));
            return;
        };
        let kind = event.get("type").and_then(Value::as_str).or(name).unwrap_or_default();
        if kind == "error" || kind.is_empty() && event.get("error").is_some_and(|error| !error.is_null()) {
            self.parts.out.push(Delta::Failed(error(&event)));
        } else {
            self.reading.event(&mut self.parts, kind, &event);
        }
    }

    fn take(&mut self) -> Vec<Delta> {
        mem::take(&mut self.parts.out)
    }
}

/// The marker at the end of a stream.
const DONE: &str = "[DONE]";

fn object(data: &str) -> Option<Value> {
    serde_json::from_str(data).ok().filter(Value::is_object)
}
