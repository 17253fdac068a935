//! Conversion of requests of Messages to plans.

use serde_json::Value;
use spec::Dialect;

use super::ask::{Ask, Format};
use super::conversation;
use super::plan::{Item, ResponsePlan, Thought, tokens};
use super::problem::{NO_THREADS, Problem};
use super::text;

pub(super) fn ask(request: &Value) -> Ask {
    let format = request.pointer("/output_config/format/schema").cloned();
    conversation::ask(request, "/metadata/user_id", format.map_or(Format::Text, Format::Schema))
}

pub(super) fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let ask = ask(request);
    let mut plan = conversation::plan(request, &ask, dialect, seed, || {
        let search = (!ask.is_tool_output && has_web_search(request))
            .then(|| Item::WebSearch(ask.plain().trim().to_owned()));
        thought(request).map(Item::Reasoning).into_iter().chain(search).collect()
    });
    plan.cached_tokens = cached(request);
    plan
}

fn cached(request: &Value) -> u64 {
    let prompt: String = ["tools", "system", "messages"]
        .iter()
        .filter_map(|name| Some(request.get(name)?.to_string()))
        .collect();
    prompt.rfind("\"cache_control\"").and_then(|end| prompt.get(..end)).map_or(0, tokens)
}

fn has_web_search(request: &Value) -> bool {
    let tools = request.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut kinds = tools.filter_map(|tool| text(tool, "type"));
    kinds.any(|kind| kind.starts_with("web_search"))
}

fn thought(request: &Value) -> Option<Thought> {
    let thinking = request.get("thinking")?;
    if !matches!(text(thinking, "type"), Some("enabled" | "adaptive")) {
        return None;
    }
    let words = match text(thinking, "display") {
        Some("omitted") => Vec::new(),
        _ => vec!["A few".to_owned(), " words".to_owned(), " will do.".to_owned()],
    };
    Some(Thought { text: Some(words), ..Thought::default() })
}

pub(super) fn unmatched(request: &Value) -> Option<Problem> {
    conversation::unmatched(request, "tool_use_id")
}

/// The gateway holds no conversations. SDKs that get this error send the whole conversation.
pub(super) fn unserved(request: &Value) -> Option<Problem> {
    request.get("thread").filter(|thread| !thread.is_null())?;
    Some(Problem::invalid(NO_THREADS, "This server holds no threads.", Some("thread")))
}

pub(super) const fn can_say(item: &Item) -> bool {
    matches!(
        item,
        Item::Message(_)
            | Item::Reasoning(_)
            | Item::Function { .. }
            | Item::WebSearch(_)
            | Item::McpCall { .. }
            | Item::Compaction(_)
    )
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
