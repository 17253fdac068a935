//! Whole responses.

use serde_json::Value;
use spec::Dialect;

use super::reader::{ReplyReader, json};
use super::reading::error;
use crate::{Reply, ReplyError};

/// The content type of a stream.
const STREAM: &str = "text/event-stream";

impl Reply {
    /// Reads a response. Unreadable parts are left out.
    pub fn read(dialect: &Dialect, content_type: Option<&str>, status: u16, bytes: &[u8]) -> Self {
        let kind = content_type.unwrap_or_default().trim_start();
        let is_stream = kind.get(..STREAM.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(STREAM));
        // Some gateways stream under another content type, or have a body under this one.
        let first = bytes.trim_ascii_start().first();
        let is_list = first == Some(&b'[') && dialect.api.names_model();
        if status < 400 && first != Some(&b'{') && !is_list
            || is_stream && first.is_some_and(|first| b":ed".contains(first))
        {
            Self::of_stream(dialect, bytes)
        } else {
            Self::of_body(dialect, status, bytes)
        }
    }

    /// Reads a stream of server-sent events. Unreadable events are left out.
    pub fn of_stream(dialect: &Dialect, bytes: &[u8]) -> Self {
        ReplyReader::all(dialect.api, bytes).into_iter().collect()
    }

    /// Reads a body. Unreadable parts are left out.
    pub fn of_body(dialect: &Dialect, status: u16, bytes: &[u8]) -> Self {
        let Some(body) = str::from_utf8(bytes).ok().and_then(json) else {
            let message = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
            let error = (status >= 400).then(|| ReplyError { class: String::new(), message });
            return Self { error, ..Self::default() };
        };
        // Some APIs send a list of their events, or of one error.
        let body = match body {
            Value::Array(mut all) if dialect.api.names_model() => match all.len() {
                1 => all.swap_remove(0),
                _ => return ReplyReader::new(dialect.api).list(&all).into_iter().collect(),
            },
            body => body,
        };
        // A response that failed is one, with the error as a member.
        let is_response =
            dialect.api.body(&body.to_string()).is_some_and(|it| Some(it.root) == dialect.api.root_body());
        let has_error = body.get("error").is_some_and(|error| !error.is_null());
        if !body.is_object() && status < 400 {
            return Self::default();
        }
        if status >= 400 || has_error && !is_response {
            return Self { error: Some(error(&body)), is_ended: body.is_object(), ..Self::default() };
        }
        ReplyReader::new(dialect.api).body(&body).into_iter().collect()
    }
}
