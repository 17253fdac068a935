//! Conversations that cannot be answered, and items that cannot be said.

use std::collections::BTreeSet;

use serde_json::Value;
use spec::Api;
use translation::{Part as Asked, Question};

use super::items::ToolItem;
use super::plan::{Item, Part};
use super::problem::{NO_THREADS, Problem};
use super::speech::{Speech, speech};
use super::text;

/// Only some servers of the API hold conversations.
pub(super) fn unserved(request: &Value, api: &Api) -> Option<Problem> {
    let member = speech(api).threads.as_deref()?;
    request.get(member).filter(|thread| !thread.is_null())?;
    Some(Problem::invalid(NO_THREADS, "This server holds no threads.", Some(member)))
}

/// An empty conversation, or a role that is none.
pub(super) fn misshapen(request: &Value, api: &Api) -> Option<Problem> {
    let Speech { empty, roles, .. } = speech(api);
    let empty = empty.as_ref()?;
    let invalid = |message: &str| Some(Problem::invalid("invalid_value", message, Some(api.request.input)));
    let entries = request.get(api.request.input).and_then(Value::as_array).filter(|all| !all.is_empty());
    let Some(entries) = entries else { return invalid(empty) };
    let is_known = |role: &str| roles.is_empty() || roles.iter().any(|known| known == role);
    let are_known = entries.iter().filter_map(|entry| text(entry, "role")).all(is_known);
    if are_known { None } else { invalid("Please use a valid role: user, model.") }
}

/// A result without a call before it. Some APIs store the call.
pub(crate) fn unmatched(request: &Value, api: &Api) -> Option<Problem> {
    let Question { turns, .. } = Question::read(api, request);
    let parts = || turns.iter().flat_map(|turn| &turn.parts);
    let mut calls = BTreeSet::new();
    // The items of a session have no order.
    let later = parts().filter(|_| api.session.is_some());
    calls.extend(later.filter_map(|part| if let Asked::Call(call) = part { Some(&call.id) } else { None }));
    let lost = parts().find_map(|part| match part {
        Asked::Call(call) => {
            calls.insert(&call.id);
            None
        }
        Asked::Result(result) => Some(&result.id).filter(|id| !calls.contains(id)),
        _ => None,
    });
    let message = speech(api).unmatched.replace("{id}", &format!("{:?}", lost?));
    Some(Problem::invalid("invalid_value", message, Some(api.request.input)))
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
    let is_known = |tool: &ToolItem| speech.says.as_ref().is_none_or(|kinds| kinds.contains(&tool.page.kind));
    has_words && item.tool().is_none_or(is_known)
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
