//! Conversion of requests of generateContent to plans.

use serde_json::Value;
use spec::Dialect;
use translation::lower_types;

use super::ask::{Ask, Format};
use super::conversation;
use super::plan::{Ending, Item, Part, ResponsePlan, Thought};
use super::problem::Problem;
use super::text;

fn contents(request: &Value) -> &[Value] {
    request.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn parts(content: &Value) -> &[Value] {
    content.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn ask(request: &Value) -> Ask {
    let said = request.get("contents").map(Value::to_string).unwrap_or_default();
    let mut ask = Ask { said, format: format(request), ..Ask::default() };
    for content in contents(request).iter().filter(|content| text(content, "role") != Some("model")) {
        let parts = parts(content);
        let mimes = || {
            parts.iter().filter_map(|part| text(part.get("inlineData").or(part.get("fileData"))?, "mimeType"))
        };
        ask.is_tool_output = parts.iter().any(|part| part.get("functionResponse").is_some());
        ask.has_image = mimes().any(|mime| mime.starts_with("image/"));
        ask.has_file = mimes().any(|mime| !mime.starts_with("image/"));
        ask.text = parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join(" ");
    }
    ask
}

fn format(request: &Value) -> Format {
    let of =
        |name: &str| request.pointer(&format!("/generationConfig/{name}")).filter(|value| !value.is_null());
    match of("responseJsonSchema").or_else(|| of("responseSchema")) {
        Some(schema) => Format::Schema(lower_types(schema.clone())),
        None if of("responseMimeType").is_some_and(|mime| mime == "application/json") => Format::Object,
        None => Format::Text,
    }
}

pub(super) fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let ask = ask(request);
    let first = || thought(request).map(Item::Reasoning).into_iter().chain(hosted(request, &ask)).collect();
    let mut plan = conversation::plan(request, &ask, dialect, seed, first);
    let choices = request.pointer("/generationConfig/candidateCount").and_then(Value::as_u64);
    // A blocked prompt has one answer: none.
    plan.choices = if plan.ending == Ending::Blocked { 1 } else { conversation::choices(choices) };
    plan
}

fn thought(request: &Value) -> Option<Thought> {
    let config = request.pointer("/generationConfig/thinkingConfig")?;
    // google-genai for Python writes it so.
    let asks =
        ["includeThoughts", "include_thoughts"].map(|name| config.get(name) == Some(&Value::Bool(true)));
    asks.contains(&true).then(|| Thought {
        text: Some(vec!["A few".to_owned(), " words".to_owned(), " will do.".to_owned()]),
        ..Thought::default()
    })
}

/// The tools that the service runs itself.
fn hosted(request: &Value, ask: &Ask) -> Vec<Item> {
    let tools = || request.get("tools").and_then(Value::as_array).into_iter().flatten();
    let offers = |name: &str| tools().any(|tool| tool.get(name).is_some()) && !ask.is_tool_output;
    let search = offers("googleSearch").then(|| Item::WebSearch(ask.plain().trim().to_owned()));
    let code =
        offers("codeExecution").then(|| Item::Code(vec!["print(6 * 7)".to_owned()], "42\n".to_owned()));
    search.into_iter().chain(code).collect()
}

/// An empty conversation, a role that is none, or a result without a call of its name.
pub(super) fn unmatched(request: &Value) -> Option<Problem> {
    let invalid = |message: String| Some(Problem::invalid("invalid_value", message, Some("contents")));
    if contents(request).is_empty() {
        return invalid("There is no content.".to_owned());
    }
    let mut roles = contents(request).iter().filter_map(|content| text(content, "role"));
    if roles.any(|role| !matches!(role, "" | "user" | "model" | "function")) {
        return invalid("Please use a valid role: user, model.".to_owned());
    }
    let mut calls: Vec<&str> = Vec::new();
    for part in contents(request).iter().flat_map(parts) {
        let name = |member: &str| text(part.get(member)?, "name");
        if let Some(lost) = name("functionResponse").filter(|name| !calls.contains(name)) {
            return invalid(format!("There is no call of {lost:?} before its result."));
        }
        calls.extend(name("functionCall"));
    }
    None
}

pub(super) fn can_say(item: &Item) -> bool {
    match item {
        Item::Message(parts) => parts.iter().any(|part| match part {
            Part::Text(words, _) | Part::Refusal(words) => !words.is_empty(),
        }),
        item => {
            matches!(item, Item::Reasoning(_) | Item::Function { .. } | Item::WebSearch(_) | Item::Code(..))
        }
    }
}
