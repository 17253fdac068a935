//! A translator of responses.

use std::sync::Arc;

use serde_json::Value;
use spec::Dialect;

use crate::faults::{Crowd, ReplyFault, is_at};
use crate::pen::{Front, Writer, class_of, error_body, status_of};
use crate::{Delta, Question, Reply, ReplyError, ReplyReader, Stop, Stopped, Usage};

/// How the stream of an upstream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamEnd {
    /// It was complete by HTTP.
    Complete,
    /// It broke, for this reason.
    Broken(String),
}

/// Translates the response of an upstream to the API of a client, as it arrives.
#[derive(Debug)]
pub struct Translator {
    upstream: &'static Dialect,
    front: Front,
    reader: ReplyReader,
    writer: Writer,
    has_started: bool,
    /// Whether the client's stream has begun, so that no error can have a status.
    has_begun: bool,
    has_ended: bool,
    error: Option<ReplyError>,
    fault: Option<ReplyFault>,
}

impl Translator {
    /// Creates a translator for the response to a request of a client. `now` is the time as seconds since 1970.
    pub fn new(
        front: &'static Dialect,
        upstream: &'static Dialect,
        question: &Question,
        request: &Value,
        now: u64,
    ) -> Self {
        let front = Front { dialect: front, request: request.clone(), model: question.model.clone(), now };
        Self {
            upstream,
            reader: ReplyReader::new(upstream.api),
            writer: Writer::new(front.clone()),
            front,
            has_started: false,
            has_begun: false,
            has_ended: false,
            error: None,
            fault: None,
        }
    }

    /// Makes the translator wrong in what a rule demands.
    #[must_use]
    pub fn with_fault(mut self, rule: &str, crowd: &Arc<Crowd>) -> Self {
        self.fault = Some(ReplyFault::new(rule, Arc::clone(crowd)));
        self
    }

    /// The client has got the beginning of its stream before the first event.
    pub const fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Translates the next bytes of a stream.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let deltas = self.reader.push(bytes);
        self.write(deltas)
    }

    /// Ends the stream. Without its own end, the client gets an error.
    pub fn finish(&mut self, end: &UpstreamEnd) -> Vec<u8> {
        let deltas = self.reader.finish();
        let mut out = self.write(deltas);
        if !self.has_ended {
            let message = match end {
                UpstreamEnd::Complete => "The upstream ended its stream before its response.".to_owned(),
                UpstreamEnd::Broken(reason) => format!("The upstream's stream broke: {reason}"),
            };
            self.fail(502, message, &mut out);
        }
        out
    }

    /// Writes deltas of the response.
    pub fn write(&mut self, deltas: Vec<Delta>) -> Vec<u8> {
        let mut out = Vec::new();
        let change = |delta| match &mut self.fault {
            Some(fault) => fault.change(delta),
            None => vec![delta],
        };
        let deltas: Vec<Delta> = deltas.into_iter().flat_map(change).collect();
        for delta in deltas {
            if self.has_ended {
                break;
            }
            match delta {
                Delta::Failed(error) => {
                    self.fail(status_of(self.upstream.api, &error.class), error.message, &mut out);
                }
                Delta::Garbled(_) => {
                    self.fail(502, "The upstream sent an event that is not JSON.".to_owned(), &mut out);
                }
                delta => {
                    self.start(&delta, &mut out);
                    self.has_ended = delta == Delta::Ended;
                    self.writer.write(&delta, &mut out);
                }
            }
        }
        out
    }

    /// Returns whether the client's stream has ended.
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the dialect of the client.
    pub const fn front(&self) -> &'static Dialect {
        self.front.dialect
    }

    /// Returns whether the response failed.
    pub const fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Returns the error, if the response failed before it began: a client can get it as body instead of the stream.
    pub fn early_error(&self) -> Option<(u16, Value)> {
        let error = self.error.as_ref().filter(|_| !self.has_started && !self.has_begun)?;
        Some((
            status_of(self.front.dialect.api, &error.class),
            error_body(self.front.dialect.api, error, &[]),
        ))
    }

    /// Translates a body. Returns the status, and the client's body.
    pub fn body(&mut self, status: u16, bytes: &[u8]) -> (u16, Value) {
        let reply = Reply::of_body(self.upstream, status, bytes);
        let is_at = |rule| is_at(self.fault.as_ref(), rule);
        let (status, message) = match &reply.error {
            Some(error) if status >= 400 => (status, error.message.clone()),
            Some(error) => (status_of(self.upstream.api, &error.class), error.message.clone()),
            None if status >= 400 => (status, String::new()),
            None if !reply.is_ended => (502, "The upstream's body is no response.".to_owned()),
            None => {
                let reply = self.changed(&reply);
                return (200, self.reply(&reply));
            }
        };
        let message =
            if message.is_empty() { format!("The upstream answered with status {status}.") } else { message };
        let is_silent = is_at("fault/message") || is_at("contract/error-body");
        let message = if is_silent { NO_MESSAGE.to_owned() } else { message };
        let status = match status {
            500.. if is_at("fault/status") => 400,
            _ if is_at("fault/status") => 500,
            status => status,
        };
        let class = class_of(self.front.dialect.api, status).to_owned();
        (status, error_body(self.front.dialect.api, &ReplyError { class, message }, &[]))
    }

    /// Returns the body of the client for a reply.
    pub fn reply(&self, reply: &Reply) -> Value {
        Writer::new(self.front.clone()).body(reply)
    }

    fn changed(&mut self, reply: &Reply) -> Reply {
        match &mut self.fault {
            Some(fault) => reply.deltas().into_iter().flat_map(|delta| fault.change(delta)).collect(),
            None => reply.clone(),
        }
    }

    fn start(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        // Some APIs begin with counts.
        if matches!(delta, Delta::Usage(_)) {
            return;
        }
        let is_start = matches!(delta, Delta::Started { .. });
        if !std::mem::replace(&mut self.has_started, true) && !is_start {
            self.writer.write(&Delta::Started { id: None, model: None }, out);
        }
    }

    fn fail(&mut self, status: u16, message: String, out: &mut Vec<u8>) {
        if self.has_begun && !std::mem::replace(&mut self.has_started, true) {
            self.writer.write(&Delta::Started { id: None, model: None }, out);
        }
        let is_at = |rule| is_at(self.fault.as_ref(), rule);
        if self.has_started && (is_at("fault/false-complete") || is_at("session/break-told")) {
            let stopped = Stopped { stop: Some(Stop::Ended), ..Stopped::default() };
            for delta in [Delta::Stopped(stopped), Delta::Ended] {
                self.writer.write(&delta, out);
            }
            self.has_ended = true;
            return;
        }
        let is_silent = is_at("fault/message") || is_at("contract/error-body");
        let message = if is_silent { NO_MESSAGE.to_owned() } else { message };
        let error = ReplyError { class: class_of(self.front.dialect.api, status).to_owned(), message };
        if is_at("fault/malformed") && self.has_started {
            out.extend_from_slice(b"data: {\"type\n\n");
        }
        if self.has_started && !is_at("fault/told") && !is_at("fault/hung") {
            let usage = is_at("fault/usage").then_some(Usage {
                input: Some(100_000),
                output: Some(100_000),
                ..Usage::default()
            });
            self.writer.fail(&error, usage, out);
        }
        self.has_ended = true;
        self.error = Some(error);
    }
}

/// A message that tells nothing.
const NO_MESSAGE: &str = "Something went wrong.";
