//! A response as a whole in events that repeat it, by the tables of a dialect.

use serde_json::{Value, json};
use spec::Dialect;
use spec::table::{Render, RenderMoment, RenderResponse};

use super::edits::{Edited, Edits, parsed};

/// The members of a response in a dialect that lists none.
const MEMBERS: &[&str] =
    &["id", "object", "created_at", "status", "error", "incomplete_details", "model", "output", "usage"];

/// A response. Members without a value repeat the request.
pub fn response(
    dialect: &Dialect,
    edits: Edits,
    request: &Value,
    moment: RenderMoment,
    value: impl Fn(&str) -> Option<Value>,
) -> Value {
    let RenderResponse { members, ended, .. } = dialect.render.response;
    let members = if moment == RenderMoment::Ended && !ended.is_empty() { ended } else { members };
    let members = if members.is_empty() { MEMBERS } else { members };
    let member =
        |name: &&str| ((*name).to_owned(), value(name).unwrap_or_else(|| repeated(dialect, request, name)));
    let mut response = Value::Object(members.iter().map(member).collect());
    edits.apply(Edited::response(moment), &mut response);
    response
}

fn repeated(dialect: &Dialect, request: &Value, name: &str) -> Value {
    let Render { tools, response: RenderResponse { defaults, .. }, .. } = dialect.render;
    let requested = request.get(name).filter(|value| !value.is_null()).cloned();
    let mut value = requested.unwrap_or_else(|| match name {
        "model" => json!("reference-1"),
        name => {
            defaults.iter().find(|(known, _)| *known == name).map_or(Value::Null, |(_, json)| parsed(json))
        }
    });
    if let ("tools", Some(entries), false) = (name, value.as_array_mut(), tools.is_empty()) {
        let kind = |tool: &Value| tool.get("type")?.as_str().map(|kind| tools.contains(&kind));
        entries.retain(|tool| kind(tool) == Some(true));
    }
    value
}
