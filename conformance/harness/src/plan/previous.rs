//! The response that a request continues or refers to.

use std::borrow::Cow;

use serde_json::Value;
use spec::table::TurnShape;
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

fn snapshot<'t>(event: &'t str, dialect: &Dialect) -> Option<&'t str> {
    spec::json::at(event, dialect.pointer(dialect.api.snapshot?))
}

fn member<'t>(text: &'t str, pointer: &str) -> Option<Cow<'t, str>> {
    spec::json::at(text, pointer).and_then(spec::json::string)
}

pub(super) fn is_previous_output(entry: &Value) -> bool {
    entry.get("type").is_some_and(|kind| kind == "previous_output")
}

/// Replaces `previous_output` by all items, with a result for each call if one is given. Encrypted content is sent
/// without its plain text, which requests do not allow.
pub(super) fn carried(before: &PreviousResponse, entry: &Value, api: &Api) -> Vec<Value> {
    let mut entries = match api.request.turn {
        Some(turn) => repeated(turn, &before.output).into_iter().collect(),
        None => before.output.clone(),
    };
    if let Some(encrypted) = api.encrypted {
        for item in entries.iter_mut().filter_map(Value::as_object_mut) {
            if item.get(encrypted.member).is_some_and(Value::is_string) {
                item.shift_remove(encrypted.plain);
            }
        }
    }
    let (Some(result), Some(output)) = (api.request.result, entry.get("call_output")) else { return entries };
    let calls = before.output.iter().flat_map(|item| calls_in(item, api));
    let calls =
        calls.filter(|call| result.of.is_empty() || call.get("type").is_some_and(|it| it == result.of));
    let (id, name) = api.client_call.map_or(("", ""), |call| (call.id, call.name));
    let results = calls.filter_map(|call| {
        let mut entry = serde_json::from_str(result.entry).ok()?;
        let found = [("{id}", call.pointer(id)), ("{name}", call.pointer(name)), ("{output}", Some(output))];
        for (mark, value) in found {
            match value {
                Some(value) => fill(&mut entry, &[(mark, value)]),
                None => drop_members(&mut entry, mark),
            }
        }
        Some(entry)
    });
    match result.within.and_then(|within| serde_json::from_str(within).ok()) {
        Some(mut within) => {
            fill(&mut within, &[("{results}", &Value::Array(results.collect()))]);
            entries.push(within);
        }
        None => entries.extend(results),
    }
    entries
}

/// An item is a call, or has a list of calls, or of entries with a call in some.
fn calls_in<'v>(item: &'v Value, api: &Api) -> Vec<&'v Value> {
    let scope = api.client_call.map(|call| api.scope(call.scope)).filter(|scope| !scope.is_container);
    let Some((list, rest)) = scope.and_then(|scope| scope.in_body.first()?.split_once("/{")) else {
        return vec![item];
    };
    let inner = rest.split_once('/').map_or(String::new(), |(_, inner)| format!("/{inner}"));
    let entries = item.pointer(list).and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| entry.pointer(&inner)).collect()
}

fn drop_members(value: &mut Value, text: &str) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(|entry| drop_members(entry, text)),
        Value::Object(members) => {
            members.retain(|_, member| member != text);
            members.values_mut().for_each(|member| drop_members(member, text));
        }
        _ => {}
    }
}

/// The entry that repeats a response in a conversation.
fn repeated(turn: TurnShape, items: &[Value]) -> Option<Value> {
    let mut entry = serde_json::from_str(turn.entry).ok()?;
    fill(&mut entry, &[("{items}", &Value::Array(items.to_vec()))]);
    let members = turn.members.and_then(|place| items.first()?.pointer(place)?.as_object());
    if let Value::Object(own) = &mut entry {
        own.extend(members.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    }
    Some(entry)
}

fn fill(entry: &mut Value, values: &[(&str, &Value)]) {
    replace(entry, &|text| values.iter().find(|(name, _)| *name == text).map(|(_, value)| (*value).clone()));
}

pub(super) fn replace(value: &mut Value, other: &dyn Fn(&str) -> Option<Value>) {
    match value {
        Value::String(text) => {
            if let Some(other) = other(text) {
                *value = other;
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| replace(entry, other)),
        Value::Object(members) => members.values_mut().for_each(|member| replace(member, other)),
        _ => {}
    }
}
