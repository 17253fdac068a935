//! The response that a request continues or refers to.

use std::borrow::Cow;

use serde_json::Value;
use spec::{Api, Dialect};

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
        let id = member(snapshot(event, dialect)?, "/id")?.into_owned();
        Some(Self { id, ..Self::default() })
    }

    /// Returns the response of an event that ends one.
    pub fn ended(event: &str, dialect: &Dialect) -> Option<Self> {
        let kind = member(event, "/type")?;
        if !dialect.terminal.contains(&&*kind) {
            return None;
        }
        let response: Value = serde_json::from_str(snapshot(event, dialect)?).ok()?;
        let id = response.get("id")?.as_str()?.to_owned();
        let output = response.get(dialect.api.list).and_then(Value::as_array).cloned().unwrap_or_default();
        Some(Self { id, output, last_number: None })
    }
}

/// Returns the response in an event.
fn snapshot<'t>(event: &'t str, dialect: &Dialect) -> Option<&'t str> {
    spec::json::at(event, dialect.pointer(dialect.api.snapshot?))
}

fn member<'t>(text: &'t str, pointer: &str) -> Option<Cow<'t, str>> {
    spec::json::at(text, pointer).and_then(spec::json::string)
}

/// Returns whether an input is replaced by the previous output.
pub(super) fn is_previous_output(entry: &Value) -> bool {
    entry.get("type").is_some_and(|kind| kind == "previous_output")
}

/// Returns the replacement of `previous_output`: all items, with a result for each call if one is given. What is
/// encrypted is sent without its plain text, which requests do not allow.
pub(super) fn carried(before: &PreviousResponse, entry: &Value, api: &Api) -> Vec<Value> {
    let mut entries = before.output.clone();
    if let Some(encrypted) = api.encrypted {
        for item in entries.iter_mut().filter_map(Value::as_object_mut) {
            if item.get(encrypted.member).is_some_and(Value::is_string) {
                item.shift_remove(encrypted.plain);
            }
        }
    }
    let (Some(result), Some(output)) = (api.request.result, entry.get("call_output")) else { return entries };
    let calls = before.output.iter().filter(|item| item.get("type").is_some_and(|it| it == result.of));
    let ids = calls.filter_map(|call| call.get(api.call.id));
    entries.extend(ids.filter_map(|id| {
        let mut entry = serde_json::from_str(result.entry).ok()?;
        fill(&mut entry, &[("{id}", id), ("{output}", output)]);
        Some(entry)
    }));
    entries
}

/// Replaces texts by values.
fn fill(entry: &mut Value, values: &[(&str, &Value)]) {
    match entry {
        Value::String(text) => {
            if let Some((_, value)) = values.iter().find(|(name, _)| name == text) {
                *entry = (*value).clone();
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| fill(entry, values)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, values)),
        _ => {}
    }
}
