//! How the responses of each API are read.

mod chat;
mod messages;
mod responses;

use serde_json::Value;
use spec::Api;
use spec::table::{CountPlace, UsagePlaces};

use super::parts::{Parts, text_of};
use crate::{ReplyError, Usage};

/// The state of reading a response.
#[derive(Debug)]
pub(super) enum Reading {
    Responses(responses::Reader),
    Messages(messages::Reader),
    Chat(chat::Reader),
}

impl Reading {
    pub(super) fn new(api: &'static Api) -> Self {
        match api.name {
            "responses" => Self::Responses(responses::Reader::new(api)),
            "messages" => Self::Messages(messages::Reader::default()),
            _ => Self::Chat(chat::Reader::new(api)),
        }
    }

    /// Reads an event that is no error.
    pub(super) fn event(&mut self, parts: &mut Parts, kind: &str, event: &Value) {
        match self {
            Self::Responses(reader) => reader.event(parts, kind, event),
            Self::Messages(reader) => reader.event(parts, kind, event),
            Self::Chat(reader) => reader.chunk(parts, event),
        }
    }

    /// Reads a body that is no error.
    pub(super) fn body(&mut self, parts: &mut Parts, body: &Value) {
        match self {
            Self::Responses(reader) => reader.body(parts, body),
            Self::Messages(reader) => reader.body(parts, body),
            Self::Chat(reader) => reader.body(parts, body),
        }
    }

    /// Reads the marker at the end.
    pub(super) fn done(&mut self, parts: &mut Parts) {
        match self {
            Self::Responses(_) | Self::Messages(_) => {}
            Self::Chat(reader) => reader.done(parts),
        }
    }
}

/// Returns the error that a body or an event is, in any of the forms that gateways and frameworks use.
pub(crate) fn error(value: &Value) -> ReplyError {
    let error = match value.get("error") {
        None | Some(Value::Null) => value,
        Some(error) => error,
    };
    let message = error
        .as_str()
        .or_else(|| text_of(error, "message"))
        .or_else(|| text_of(value, "message"))
        .map(str::to_owned)
        .or_else(|| {
            value
                .get("detail")
                .map(|detail| detail.as_str().map_or_else(|| detail.to_string(), str::to_owned))
        });
    let class = text_of(error, "type").filter(|kind| *kind != "error").map(str::to_owned);
    let class = class.or_else(|| code(error.get("code")?));
    ReplyError { class: class.unwrap_or_default(), message: message.unwrap_or_default() }
}

/// Returns an error's code, which some vendors have as number.
fn code(code: &Value) -> Option<String> {
    code.as_str().map(str::to_owned).or_else(|| code.as_i64().map(|code| code.to_string()))
}

/// Returns the token counts of an object with them.
fn usage(places: &UsagePlaces, counts: &Value) -> Usage {
    let count = |place| count(counts, place);
    Usage {
        input: count(places.input),
        cached: count(places.cached),
        output: count(places.output),
        reasoning: count(places.reasoning),
    }
}

fn count(counts: &Value, (member, inner): CountPlace) -> Option<u64> {
    let count = counts.get(member)?;
    inner.map_or(Some(count), |inner| count.get(inner))?.as_u64()
}

/// Returns the entries of a list, with their indices.
fn entries<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = (u64, &'v Value)> {
    (0..).zip(value.get(member).and_then(Value::as_array).into_iter().flatten())
}

/// Returns an index; one that is missing is 0.
fn index(value: &Value, member: &str) -> u64 {
    value.get(member).and_then(Value::as_u64).unwrap_or(0)
}
