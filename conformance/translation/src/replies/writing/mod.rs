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

/// The receiver of a response.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    pub(crate) dialect: &'static Dialect,
    /// The request, as the Responses API repeats its settings.
    pub(crate) request: Value,
    /// The model, unless the upstream names one.
    pub(crate) model: String,
    /// The time, as seconds since 1970.
    pub(crate) now: u64,
}

/// Facts about a response that writers of all APIs need.
#[derive(Debug, Clone, Default)]
struct Head {
    /// A part that ids of the response and its items share.
    tag: String,
    model: String,
    usage: Option<Usage>,
    stopped: Stopped,
    has_calls: bool,
    has_refusal: bool,
}

impl Head {
    fn of(front: &Front, reply: &Reply) -> Self {
        let mut head = Self::default();
        for delta in reply.deltas() {
            head.note(front, &delta);
        }
        head
    }

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

    /// The content shows the reason.
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
    fn write(&mut self, delta: &Delta, out: &mut Vec<u8>);

    /// Token counts come first, if there are any.
    fn fail(&mut self, error: &ReplyError, usage: Option<Usage>, out: &mut Vec<u8>);

    /// Returns the response as a body, instead of its stream.
    fn body(&mut self, reply: &Reply) -> Value;
}

pub(crate) fn writing(front: Front) -> Box<dyn Writing> {
    match front.dialect.api.name {
        "responses" => Box::new(responses::Writer::new(front)),
        "messages" => Box::new(messages::Writer::new(front)),
        _ => Box::new(chat::Writer::new(front)),
    }
}

pub(crate) fn error_body(front: &Front, error: &ReplyError) -> Value {
    errors::body(error, front.dialect.api.name)
}

/// The type, if there is one, comes first.
fn event(out: &mut Vec<u8>, kind: Option<&str>, data: &Value) {
    if let Some(kind) = kind {
        out.extend_from_slice(format!("event: {kind}\n").as_bytes());
    }
    out.extend_from_slice(format!("data: {data}\n\n").as_bytes());
}

/// The type comes first.
fn typed(kind: &str, members: Value) -> Value {
    let mut data = json!({ "type": kind });
    if let (Value::Object(data), Value::Object(members)) = (&mut data, members) {
        data.extend(members);
    }
    data
}
