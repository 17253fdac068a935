//! Conversations of continued responses.

use serde_json::{Value, json};
use spec::Api;

use crate::content::text;

/// Maximum number of stored entries; the oldest are dropped first.
const MAX_TURNS: usize = 256;

#[derive(Debug, Clone)]
pub(super) struct PastResponse {
    pub(super) id: String,
    pub(super) request: Value,
    pub(super) context: Vec<Value>,
    pub(super) response: Value,
}

impl PastResponse {
    pub(super) fn new(id: &str, request: &Value, whole: &Value, response: &Value) -> Self {
        let mut context = entries(whole);
        context.extend_from_slice(items_of(response));
        let forgotten = context.len().saturating_sub(MAX_TURNS);
        context.drain(..forgotten);
        let (request, response) = (request.clone(), response.clone());
        Self { id: id.to_owned(), request, context, response }
    }
}

pub(super) fn items_of(response: &Value) -> &[Value] {
    response.get("output").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The request with the previous conversation.
pub(super) fn with_context(request: &Value, mut before: Vec<Value>) -> Value {
    if before.is_empty() {
        return request.clone();
    }
    before.extend(entries(request));
    let mut request = request.clone();
    request["input"] = Value::Array(before);
    request
}

/// The response that a request continues.
pub(super) fn previous<'r>(request: &'r Value, api: &Api) -> Option<&'r str> {
    text(request, api.session.as_ref()?.previous)
}

pub(super) fn entries(request: &Value) -> Vec<Value> {
    match request.get("input") {
        Some(Value::String(text)) => vec![json!({"type": "message", "role": "user", "content": text})],
        Some(Value::Array(entries)) => entries.clone(),
        _ => Vec::new(),
    }
}
