//! The response that a request continues or refers to.

use std::borrow::Cow;

use serde_json::{Value, json};
use spec::Dialect;

/// The previous response of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PreviousResponse {
    /// Its id.
    pub id: String,
    /// Its output.
    pub output: Vec<Value>,
    /// Sequence number of its last event.
    pub last_number: Option<u64>,
}

impl PreviousResponse {
    /// Returns the response of an event that begins one.
    pub fn begun(event: &str, dialect: &Dialect) -> Option<Self> {
        member(event, "/type").filter(|kind| dialect.opening == Some(&**kind))?;
        Some(Self { id: member(event, "/response/id")?.into_owned(), ..Self::default() })
    }

    /// Returns the response of an event that ends one.
    pub fn ended(event: &str, dialect: &Dialect) -> Option<Self> {
        let kind = member(event, "/type")?;
        if !dialect.terminal.contains(&&*kind) {
            return None;
        }
        let response: Value = serde_json::from_str(spec::json::at(event, "/response")?).ok()?;
        let id = response.get("id")?.as_str()?.to_owned();
        let output = response.get("output").and_then(Value::as_array).cloned().unwrap_or_default();
        Some(Self { id, output, last_number: None })
    }
}

fn member<'t>(text: &'t str, pointer: &str) -> Option<Cow<'t, str>> {
    spec::json::at(text, pointer).and_then(spec::json::string)
}

/// Returns whether an input is replaced by the previous output.
pub(super) fn is_previous_output(entry: &Value) -> bool {
    entry.get("type").is_some_and(|kind| kind == "previous_output")
}

/// Returns the replacement of `previous_output`: all items, with a result for each call if one is given. Encrypted
/// reasoning is sent without its plain text, which requests do not allow.
pub(super) fn carried(before: &PreviousResponse, entry: &Value) -> Vec<Value> {
    let mut entries = before.output.clone();
    for item in entries.iter_mut().filter_map(Value::as_object_mut) {
        if item.get("encrypted_content").is_some_and(Value::is_string) {
            item.shift_remove("content");
        }
    }
    let calls = before.output.iter().filter(|item| item.get("type").is_some_and(|it| it == "function_call"));
    let result = |call: &Value| {
        let (call_id, output) = (call.get("call_id")?, entry.get("call_output")?);
        Some(json!({"type": "function_call_output", "call_id": call_id, "output": output}))
    };
    entries.extend(calls.filter_map(result));
    entries
}
