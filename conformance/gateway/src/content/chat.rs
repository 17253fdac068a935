//! Conversion of requests of Chat Completions to plans.

use serde_json::Value;
use spec::{Dialect, Scope};

use super::ask::{Ask, Format};
use super::conversation;
use super::plan::{Item, Part, ResponsePlan, Thought};
use super::problem::Problem;
use super::text;

pub(super) fn ask(request: &Value) -> Ask {
    conversation::ask(request, "/metadata/reference", format(request))
}

fn format(request: &Value) -> Format {
    let format = request.get("response_format");
    match format.and_then(|format| text(format, "type")) {
        Some("json_schema") => Format::Schema(
            request.pointer("/response_format/json_schema/schema").cloned().unwrap_or_default(),
        ),
        Some("json_object") => Format::Object,
        _ => Format::Text,
    }
}

pub(super) fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let ask = ask(request);
    let mut plan = conversation::plan(request, &ask, dialect, seed, || {
        thought(request, dialect).map(Item::Reasoning).into_iter().collect()
    });
    plan.has_logprobs = request.get("logprobs") == Some(&Value::Bool(true));
    plan.choices = conversation::choices(request.get("n").and_then(Value::as_u64));
    plan
}

/// Only some dialects show reasoning.
fn thought(request: &Value, dialect: &Dialect) -> Option<Thought> {
    let effort = text(request, "reasoning_effort").is_some_and(|effort| effort != "none");
    let is_shown = dialect.effects().any(|effect| effect.scope == Scope::Reasoning);
    (effort && is_shown).then(|| Thought {
        text: Some(vec!["A few words".to_owned(), " will do.".to_owned()]),
        ..Thought::default()
    })
}

pub(super) fn unmatched(request: &Value) -> Option<Problem> {
    conversation::unmatched(request, "tool_call_id")
}

pub(super) fn can_say(item: &Item) -> bool {
    match item {
        Item::Message(parts) => parts.iter().any(|part| match part {
            Part::Text(words, annotations) => !words.is_empty() && annotations.is_empty(),
            Part::Refusal(words) => !words.is_empty(),
        }),
        item => matches!(item, Item::Reasoning(_) | Item::Function { .. }),
    }
}
