//! Requests of APIs whose responses have parts of few kinds.

use checker::{Asked, Chosen};
use serde_json::Value;
use spec::table::Content;
use spec::{Api, Dialect};
use translation::Tool;

use super::ask::Ask;
use super::plan::{Ending, Item, Part, ResponsePlan, Thought, tokens};
use super::problem::{NO_THREADS, Problem};
use super::speech::{Speech, speech};
use super::text;

/// Without directives: thoughts and hosted tools, calls of functions, or a text.
pub(super) fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let (api, speech) = (dialect.api, speech(dialect.api));
    let ask = Ask::read(request, api);
    let directives = ask.directives();
    let input_tokens = directives.input_tokens().unwrap_or_else(|| ask.tokens());
    let mut plan = directives.plan;
    plan.input_tokens = input_tokens;
    // A blocked prompt has one answer: none.
    plan.choices = if plan.ending == Ending::Blocked { 1 } else { ask.choices() };
    plan.is_obfuscated |= dialect.render.pads;
    plan.has_logprobs = speech.logprobs.as_ref().is_some_and(|at| request.pointer(at) == Some(&true.into()));
    plan.cached_tokens = speech.cached.as_ref().map_or(0, |mark| cached(request, mark, api));
    let asked = Asked::read(&request.to_string(), api);
    if plan.items.is_empty() {
        plan.items.extend(thought(request, speech, dialect).map(Item::Reasoning));
        plan.items.extend(hosted(request, speech, &ask));
        let calls = asked.as_ref().map_or_else(Vec::new, |asked| calls(&ask, asked));
        if calls.is_empty() {
            plan.items.push(Item::Message(vec![Part::Text(ask.words(seed), Vec::new())]));
        }
        plan.items.extend(calls);
    }
    if let Some(asked) = &asked {
        plan.stop_before(&asked.stops());
    }
    plan.limit_as(request, api);
    plan
}

/// Only some dialects show reasoning.
fn thought(request: &Value, speech: &Speech, dialect: &Dialect) -> Option<Thought> {
    let is_on = |value: &Value| match value {
        Value::String(word) => !["none", "disabled"].contains(&&**word),
        value => *value == Value::Bool(true),
    };
    let asks = speech.thinks.iter().filter_map(|place| request.pointer(place)).any(is_on);
    let is_shown = dialect.effects().any(|effect| effect.level.content == Some(Content::Reasoning));
    let is_hidden =
        speech.hides.as_ref().is_some_and(|hides| request.pointer(&hides.at) == Some(&(&*hides.is).into()));
    let words = if is_hidden { Vec::new() } else { speech.thought.clone() };
    (asks && is_shown).then(|| Thought { text: Some(words), ..Thought::default() })
}

/// The tools that the service runs itself.
fn hosted(request: &Value, speech: &Speech, ask: &Ask) -> Vec<Item> {
    let tools = || request.get("tools").and_then(Value::as_array).into_iter().flatten();
    let offers = |name: &Option<String>| {
        let Some(name) = name.as_ref().filter(|_| !ask.is_tool_output) else { return false };
        let is_kind = |tool: &Value| text(tool, "type").is_some_and(|kind| kind.starts_with(name));
        tools().any(|tool| is_kind(tool) || tool.get(name).is_some())
    };
    let search = || Item::WebSearch(ask.plain().trim().to_owned());
    let code = || Item::Code(vec!["print(6 * 7)".to_owned()], "42\n".to_owned());
    offers(&speech.search).then(search).into_iter().chain(offers(&speech.code).then(code)).collect()
}

/// The tokens before the last mark.
fn cached(request: &Value, mark: &str, api: &Api) -> u64 {
    let members = ["tools", api.request.instructions.unwrap_or_default(), api.request.input];
    let prompt: String = members.iter().filter_map(|name| Some(request.get(name)?.to_string())).collect();
    prompt.rfind(&format!("\"{mark}\"")).and_then(|end| prompt.get(..end)).map_or(0, tokens)
}

fn calls(ask: &Ask, asked: &Asked) -> Vec<Item> {
    let offered = asked.tools();
    let is_offered = |tool: &&Tool| offered.is_none_or(|offered| offered.contains(&tool.name));
    let mut functions = ask.tools.iter().filter(is_offered);
    let chosen = match asked.chosen() {
        Chosen::None => return Vec::new(),
        Chosen::Free if ask.is_tool_output => return Vec::new(),
        Chosen::Free | Chosen::Any => functions.next(),
        Chosen::One(name) => functions.find(|tool| tool.name == name),
    };
    chosen.map_or_else(Vec::new, |tool| ask.calls(&tool.name, &tool.parameters, asked.is_for_one_call()))
}

/// Only some servers of the API hold conversations.
pub(super) fn unserved(request: &Value, api: &Api) -> Option<Problem> {
    let member = speech(api).threads.as_deref()?;
    request.get(member).filter(|thread| !thread.is_null())?;
    Some(Problem::invalid(NO_THREADS, "This server holds no threads.", Some(member)))
}

/// An empty conversation, a role that is none, or results without a matching call. Some APIs store the call.
pub(super) fn unmatched(request: &Value, api: &Api) -> Option<Problem> {
    let Speech { empty, roles, result, call, .. } = speech(api);
    let (empty, result, call) = (empty.as_ref()?, result.as_ref()?, call.as_ref()?);
    let invalid = |message: String| Some(Problem::invalid("invalid_value", message, Some(api.request.input)));
    let entries = request.get(api.request.input).and_then(Value::as_array).filter(|all| !all.is_empty());
    let Some(entries) = entries else { return invalid(empty.clone()) };
    let is_known = |role: &str| roles.is_empty() || roles.iter().any(|known| known == role);
    if !entries.iter().filter_map(|entry| text(entry, "role")).all(is_known) {
        return invalid("Please use a valid role: user, model.".to_owned());
    }
    let mut calls: Vec<&str> = Vec::new();
    for entry in entries {
        let lists = ["content", "parts", "tool_calls"].iter().filter_map(|list| entry.get(*list)?.as_array());
        for part in std::iter::once(entry).chain(lists.flatten()) {
            let name = |place: &str| part.pointer(place)?.as_str();
            if let Some(lost) = name(result).filter(|id| !calls.contains(id)) {
                return invalid(format!("There is no call {}{lost:?} before its result.", of_name(result)));
            }
            calls.extend(name(call));
        }
    }
    None
}

/// Some calls have no id but their name.
fn of_name(result: &str) -> &'static str {
    if result.ends_with("/name") { "of " } else { "" }
}

/// Whether the API has a way to say an item.
pub(super) fn can_say(item: &Item, speech: &Speech) -> bool {
    let is_said = |part: &Part| match part {
        Part::Text(words, annotations) => !words.is_empty() && (!speech.is_plain || annotations.is_empty()),
        Part::Refusal(words) => !words.is_empty(),
    };
    let has_words = match item {
        Item::Message(parts) if speech.needs_words => parts.iter().any(is_said),
        _ => true,
    };
    has_words && (speech.says.is_empty() || speech.says.iter().any(|kind| kind == item.kind()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{refusal, respond};

    /// SDKs whose tool runners ask for a thread read this error, and go on without one.
    #[test]
    fn a_thread_is_refused_in_the_words_that_clients_know() {
        let dialect = &spec::anthropic::DIALECT;
        let mut request =
            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
        for (thread, is_refused) in [(json!(null), false), (json!({"type": "create"}), true)] {
            request["thread"] = thread;
            assert_eq!(refusal(&request, dialect).is_some(), is_refused);
        }
        let body: Value = serde_json::from_slice(&respond(&request, dialect).body).unwrap();
        let details = json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]});
        assert_eq!(body["error"]["details"], details);
    }
}
