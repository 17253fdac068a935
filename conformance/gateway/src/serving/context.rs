//! Conversations of continued responses.

use serde_json::{Value, json};
use spec::Api;

use crate::content::problem::Problem;
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

pub(super) fn unmatched(request: &Value) -> Option<Problem> {
    let said = entries(request);
    let of = |kind: &'static str| said.iter().filter(move |entry| text(entry, "type") == Some(kind));
    let call = |entry: &Value| text(entry, "call_id").unwrap_or_default().to_owned();
    let calls: Vec<String> = of("function_call").map(call).collect();
    let lost = of("function_call_output").map(call).find(|id| !calls.contains(id))?;
    let message = format!("There is no function call {lost:?}.");
    Some(Problem::invalid("invalid_value", message, Some("input")))
}

pub(super) fn entries(request: &Value) -> Vec<Value> {
    match request.get("input") {
        Some(Value::String(text)) => vec![json!({"type": "message", "role": "user", "content": text})],
        Some(Value::Array(entries)) => entries.clone(),
        _ => Vec::new(),
    }
}
