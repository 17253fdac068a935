//! Requests whose conversation is a list of messages, as Messages and Chat Completions have it.

use checker::{Asked, Chosen, tools_in};
use serde_json::Value;
use spec::{Api, Dialect};
use translation::lower_types;

use super::ask::{Ask, Format};
use super::plan::{Item, Part, ResponsePlan};
use super::problem::Problem;
use super::text;

pub(super) fn ask(request: &Value, reference: &str, format: Format) -> Ask {
    let messages = messages(request);
    let reference = request.pointer(reference).and_then(Value::as_str).unwrap_or_default().to_owned();
    let said = request.get("messages").map(Value::to_string).unwrap_or_default();
    let mut ask = Ask { said, reference, format, ..Ask::default() };
    for message in messages {
        take(&mut ask, message);
    }
    ask
}

fn messages(request: &Value) -> &[Value] {
    request.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn take(ask: &mut Ask, message: &Value) {
    let role = text(message, "role").unwrap_or_default();
    let parts = message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let has = |kind: &str| parts.iter().any(|part| text(part, "type").is_some_and(|it| it.starts_with(kind)));
    ask.is_tool_output = role == "tool" || has("tool_result");
    if role != "user" {
        return;
    }
    ask.has_image = has("image");
    ask.has_file = has("document") || has("file");
    match message.get("content") {
        Some(Value::String(text)) => ask.text.clone_from(text),
        _ => ask.text = parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join(" "),
    }
}

/// An empty conversation, or results without a matching call. Both have an id, in these members.
pub(super) fn unmatched(request: &Value, result: &'static str) -> Option<Problem> {
    if messages(request).is_empty() {
        return Some(Problem::invalid("invalid_value", "There is no message.", Some("messages")));
    }
    let mut calls: Vec<&str> = Vec::new();
    for message in messages(request) {
        let list = |name| message.get(name).and_then(Value::as_array).into_iter().flatten();
        let own = text(message, result);
        let results = list("content").filter_map(|part| text(part, result));
        if let Some(lost) = own.into_iter().chain(results).find(|id| !calls.contains(id)) {
            let message = format!("There is no call {lost:?} before its result.");
            return Some(Problem::invalid("invalid_value", message, Some("messages")));
        }
        calls.extend(list("content").chain(list("tool_calls")).filter_map(|call| text(call, "id")));
    }
    None
}

/// Without directives: thoughts and hosted tools, calls of functions, or a text.
pub(super) fn plan(
    request: &Value,
    ask: &Ask,
    dialect: &Dialect,
    seed: u64,
    first: impl FnOnce() -> Vec<Item>,
) -> ResponsePlan {
    let directives = ask.directives();
    let input_tokens = directives.input_tokens().unwrap_or_else(|| ask.tokens());
    let mut plan = directives.plan;
    plan.input_tokens = input_tokens;
    plan.choices = 1;
    plan.is_obfuscated |= dialect.render.pads;
    let asked = Asked::read(&request.to_string(), dialect.api);
    if plan.items.is_empty() {
        plan.items = first();
        let calls = asked.as_ref().map_or_else(Vec::new, |asked| calls(request, ask, asked, dialect.api));
        if calls.is_empty() {
            plan.items.push(Item::Message(vec![Part::Text(ask.words(seed), Vec::new())]));
        }
        plan.items.extend(calls);
    }
    if let Some(asked) = &asked {
        plan.stop_before(&asked.stops());
    }
    plan.limit_as(request, dialect.api);
    plan
}

fn calls(request: &Value, ask: &Ask, asked: &Asked, api: &Api) -> Vec<Item> {
    let offered = asked.tools();
    let is_offered = |name: &String| offered.is_none_or(|offered| offered.contains(name));
    let mut functions = functions(request, api).into_iter().filter(|(name, _)| is_offered(name));
    let chosen = match asked.chosen() {
        Chosen::None => return Vec::new(),
        Chosen::Free if ask.is_tool_output => return Vec::new(),
        Chosen::Free | Chosen::Any => functions.next(),
        Chosen::One(name) => functions.find(|(known, _)| *known == name),
    };
    chosen.map_or_else(Vec::new, |(name, schema)| ask.calls(&name, &schema, asked.is_for_one_call()))
}

/// The functions that a request offers, with their schemas.
fn functions(request: &Value, api: &Api) -> Vec<(String, Value)> {
    let Some(offers) = api.request.offers else { return Vec::new() };
    let function = |tool: &Value| {
        let function = tool.get("function").unwrap_or(tool);
        let mut schemas = SCHEMAS.iter().filter_map(|name| function.get(*name));
        let schema = schemas.next().cloned();
        // A hosted tool has a type of its own, and no schema.
        let is_function = schema.is_some() || text(tool, "type").is_none_or(|kind| kind == "function");
        let name = text(function, "name").filter(|_| is_function)?.to_owned();
        Some((name, lower_types(schema.unwrap_or_default())))
    };
    tools_in(request, offers.list, offers.inner).filter_map(function).collect()
}

/// The members with the schema of a function.
const SCHEMAS: [&str; 3] = ["input_schema", "parametersJsonSchema", "parameters"];

/// Maximum number of choices, so that a request cannot overload the server.
const MOST_CHOICES: u64 = 16;

pub(super) fn choices(asked: Option<u64>) -> usize {
    usize::try_from(asked.unwrap_or(1).clamp(1, MOST_CHOICES)).unwrap_or(1)
}
