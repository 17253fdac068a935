//! How the responses of each API are written.

mod chat;
mod errors;
mod messages;
mod responses;

use std::fmt::Debug;

use serde_json::{Value, json};
use spec::Dialect;

use super::delta::{Delta, PartKind, Stopped};
use crate::{Reply, ReplyError, Stop, Usage};

pub(crate) use errors::{class_of, status_of};

/// What a response is written for.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    pub(crate) dialect: &'static Dialect,
    /// The request, of which the Responses API repeats the settings.
    pub(crate) request: Value,
    /// The model, unless the upstream names one.
    pub(crate) model: String,
    /// The time, as seconds since 1970.
    pub(crate) now: u64,
}

/// What writers of all APIs know of a response.
#[derive(Debug, Clone, Default)]
struct Head {
    /// What ids of the response and its items have in common.
    tag: String,
    model: String,
    usage: Option<Usage>,
    stopped: Stopped,
    has_calls: bool,
    has_refusal: bool,
}

impl Head {
    /// Returns it at the end of a reply.
    fn of(front: &Front, reply: &Reply) -> Self {
        let mut head = Self::default();
        for delta in reply.deltas() {
            head.note(front, &delta);
        }
        head
    }

    /// Notes what a delta adds to it.
    fn note(&mut self, front: &Front, delta: &Delta) {
        match delta {
            Delta::Started { id, model } => {
                let id = id.as_deref().unwrap_or("1");
                let tag = id.rsplit_once('_').or_else(|| id.split_once('-')).map_or(id, |(_, tag)| tag);
                tag.clone_into(&mut self.tag);
                self.model = model.clone().unwrap_or_else(|| front.model.clone());
            }
            Delta::Opened { kind, .. } => {
                self.has_calls |= matches!(kind, PartKind::Call { .. });
                self.has_refusal |= *kind == PartKind::Refusal;
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Stopped(stopped) => self.stopped = stopped.clone(),
            _ => {}
        }
    }

    /// Returns why the response ends, as its content shows it.
    const fn stop(&self) -> Stop {
        match self.stopped.stop {
            Some(Stop::Ended | Stop::Calls) | None if self.has_calls => Stop::Calls,
            Some(Stop::Ended) | None if self.has_refusal => Stop::Refused,
            Some(Stop::Calls) | None => Stop::Ended,
            Some(stop) => stop,
        }
    }
}

/// Writes a response of an API.
pub(crate) trait Writing: Debug + Send + Sync {
    /// Writes what a delta adds to a stream.
    fn write(&mut self, delta: &Delta, out: &mut Vec<u8>);

    /// Ends a stream with an error, and with token counts if there are any.
    fn fail(&mut self, error: &ReplyError, usage: Option<Usage>, out: &mut Vec<u8>);

    /// Returns the response as a body, instead of its stream.
    fn body(&mut self, reply: &Reply) -> Value;
}

/// Returns what writes a response.
pub(crate) fn writing(front: Front) -> Box<dyn Writing> {
    match front.dialect.api.name {
        "responses" => Box::new(responses::Writer::new(front)),
        "messages" => Box::new(messages::Writer::new(front)),
        _ => Box::new(chat::Writer::new(front)),
    }
}

/// Returns the body of an error.
pub(crate) fn error_body(front: &Front, error: &ReplyError) -> Value {
    errors::body(error, front.dialect.api.name)
}

/// Appends an event, with its type first if it has one.
fn event(out: &mut Vec<u8>, kind: Option<&str>, data: &Value) {
    if let Some(kind) = kind {
        out.extend_from_slice(format!("event: {kind}\n").as_bytes());
    }
    out.extend_from_slice(format!("data: {data}\n\n").as_bytes());
}

/// Returns an event's data, with the type first.
fn typed(kind: &str, members: Value) -> Value {
    let mut data = json!({ "type": kind });
    if let (Value::Object(data), Value::Object(members)) = (&mut data, members) {
        data.extend(members);
    }
    data
}
