//! How the responses of each API are read.

mod chat;
mod gemini;
mod messages;
mod responses;

use std::fmt::Debug;

use serde_json::Value;
use spec::Api;

use super::parts::{Parts, text_of};
use crate::ReplyError;

/// Reads a response of an API.
pub(super) trait Reading: Debug + Send + Sync {
    fn event(&mut self, parts: &mut Parts, kind: &str, event: &Value);

    fn body(&mut self, parts: &mut Parts, body: &Value);

    /// Only some APIs have a marker at the end.
    fn done(&mut self, _parts: &mut Parts) {}

    /// In some, only the end of the stream ends a response.
    fn end(&mut self, _parts: &mut Parts) {}
}

pub(super) fn reading(api: &Api) -> Box<dyn Reading> {
    match api.name {
        "responses" => Box::<responses::Reader>::default(),
        "messages" => Box::<messages::Reader>::default(),
        "gemini" => Box::<gemini::Reader>::default(),
        _ => Box::<chat::Reader>::default(),
    }
}

/// Gateways and frameworks use many forms of errors.
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
    let class = text_of(error, "type").filter(|kind| *kind != "error").or_else(|| text_of(error, "status"));
    let class = class.map(str::to_owned);
    let class = class.or_else(|| code(error.get("code")?));
    ReplyError { class: class.unwrap_or_default(), message: message.unwrap_or_default() }
}

/// Some vendors have a number as code.
fn code(code: &Value) -> Option<String> {
    code.as_str().map(str::to_owned).or_else(|| code.as_i64().map(|code| code.to_string()))
}

/// Entries with their indices.
fn entries<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = (u64, &'v Value)> {
    (0..).zip(value.get(member).and_then(Value::as_array).into_iter().flatten())
}

/// A missing index is 0.
fn index(value: &Value, member: &str) -> u64 {
    value.get(member).and_then(number).unwrap_or(0)
}

/// A number that is written as a string is read as clients read it.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
