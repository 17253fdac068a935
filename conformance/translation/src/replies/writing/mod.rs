//! How the responses of each API are written.

mod chat;
mod errors;
mod messages;
mod responses;

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

/// Writes the response of an API.
#[derive(Debug)]
pub(crate) enum Writer {
    Responses(Box<responses::Writer>),
    Messages(Box<messages::Writer>),
    Chat(Box<chat::Writer>),
}

impl Writer {
    pub(crate) fn new(front: Front) -> Self {
        match front.dialect.api.name {
            "responses" => Self::Responses(Box::new(responses::Writer::new(front))),
            "messages" => Self::Messages(Box::new(messages::Writer::new(front))),
            _ => Self::Chat(Box::new(chat::Writer::new(front))),
        }
    }

    /// Writes what a delta adds to a stream.
    pub(crate) fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match self {
            Self::Responses(writer) => writer.write(delta, out),
            Self::Messages(writer) => writer.write(delta, out),
            Self::Chat(writer) => writer.write(delta, out),
        }
    }

    /// Ends a stream with an error, and with token counts if there are any.
    pub(crate) fn fail(&mut self, error: &ReplyError, usage: Option<Usage>, out: &mut Vec<u8>) {
        match self {
            Self::Responses(writer) => writer.fail(error, usage, out),
            Self::Messages(writer) => writer.fail(error, usage, out),
            Self::Chat(writer) => writer.fail(error, usage, out),
        }
    }
}

/// Returns the body of a response.
pub(crate) fn body(front: Front, reply: &Reply) -> Value {
    let deltas = reply.deltas();
    match Writer::new(front) {
        Writer::Responses(mut writer) => {
            for delta in &deltas {
                writer.write(delta, &mut Vec::new());
            }
            writer.ended()
        }
        Writer::Messages(mut writer) => {
            for delta in &deltas {
                writer.head(delta);
            }
            writer.body(reply)
        }
        Writer::Chat(mut writer) => {
            for delta in &deltas {
                writer.head(delta);
            }
            writer.body(reply)
        }
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
