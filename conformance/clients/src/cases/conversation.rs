//! Parts of a conversation that a request repeats, in the terms of its API.

use checker::tools_in;
use serde_json::{Map, Value};
use spec::Api;

pub(crate) fn entries<'b>(body: &'b Value, api: &Api) -> &'b [Value] {
    body.get(api.request.input).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Each request carries the whole conversation if nothing else continues one.
pub(crate) const fn is_whole(api: &Api) -> bool {
    api.request.continues.is_empty()
}

pub(crate) fn answers(body: &Value, api: &Api) -> usize {
    let template = api.request.turn.and_then(|turn| serde_json::from_str::<Value>(turn.entry).ok());
    let role = template.as_ref().and_then(|turn| turn.get("role")?.as_str()).unwrap_or("assistant");
    let is_answer = |entry: &Value| entry.get("role").is_some_and(|own| own == role);
    // A client may repeat the pieces of an answer.
    entries(body, api)
        .chunk_by(|one, other| is_answer(one) && is_answer(other))
        .filter(|all| is_answer(&all[0]))
        .count()
}

/// The texts of an entry. Of content, only a text counts.
pub(crate) fn said(entry: &Value) -> Vec<&str> {
    match entry.get("content") {
        Some(content) => content.as_str().into_iter().collect(),
        None => objects(entry).into_iter().filter_map(|members| members.get("text")?.as_str()).collect(),
    }
}

/// The tools that a request offers, with their names.
pub(crate) fn offered<'b>(body: &'b Value, api: &Api) -> impl Iterator<Item = (&'b Value, Option<&'b str>)> {
    api.request.offers.into_iter().flat_map(move |offers| {
        let name = |tool: &'b Value| offers.names.iter().find_map(|name| tool.pointer(name)?.as_str());
        tools_in(body, offers.list, offers.inner).map(move |tool| (tool, name(tool)))
    })
}

pub(crate) fn words<'b>(body: &'b Value, api: &Api) -> Vec<&'b str> {
    if let Some(text) = body.get(api.request.input).and_then(Value::as_str) {
        return vec![text];
    }
    let of_user = |entry: &&Value| entry.get("role").is_some_and(|role| role == "user");
    entries(body, api).iter().filter(of_user).flat_map(said).collect()
}

pub(crate) fn outputs<'b>(body: &'b Value, id: &str, api: &Api) -> Vec<&'b Value> {
    static ABSENT: Value = Value::Null;
    let template: Option<Value> =
        api.request.result.and_then(|result| serde_json::from_str(result.entry).ok());
    let is_answer = |members: &Map<String, Value>| members.values().any(|value| value == ID);
    let Some(answer) =
        template.as_ref().and_then(|template| objects(template).into_iter().find(|it| is_answer(it)))
    else {
        return Vec::new();
    };
    let is_filled = |value: &Value| [NAME, OUTPUT].iter().any(|it| value.to_string().contains(it));
    let equals = |found: &Map<String, Value>| {
        answer.iter().all(|(name, value)| match value.as_str() {
            Some(ID) => found.get(name).is_some_and(|value| value == id),
            _ if is_filled(value) => found.contains_key(name),
            _ => found.get(name) == Some(value),
        })
    };
    let output =
        answer.iter().find(|(_, value)| value.to_string().contains(OUTPUT)).map_or("", |(name, _)| name);
    let found = entries(body, api).iter().flat_map(objects).filter(|found| equals(found));
    found.map(|found| found.get(output).unwrap_or(&ABSENT)).collect()
}

const ID: &str = "{id}";
const NAME: &str = "{name}";
const OUTPUT: &str = "{output}";

pub(crate) fn sealed<'v>(value: &'v Value, api: &Api) -> Vec<&'v Map<String, Value>> {
    let is_sealed = |members: &&Map<String, Value>| {
        let kind = members.get("type").and_then(Value::as_str);
        api.request.sealed.iter().any(|sealed| kind == Some(sealed) || members.contains_key(*sealed))
    };
    objects(value).into_iter().filter(is_sealed).collect()
}

/// All members of the original have to be unchanged.
pub(crate) fn is_kept(sent: &Map<String, Value>, original: &Map<String, Value>) -> bool {
    original.iter().all(|(name, value)| sent.get(name) == Some(value))
}

fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(members) => {
            std::iter::once(members).chain(members.values().flat_map(objects)).collect()
        }
        Value::Array(entries) => entries.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn api(dialect: &str) -> &'static Api {
        spec::dialect(dialect).expect("it is there").api
    }

    #[test]
    fn the_output_of_a_call_is_found_in_the_words_of_each_api() {
        for (dialect, body) in [
            (
                "openai",
                json!({"input": [{"type": "function_call_output", "call_id": "c", "output": "Rain"}]}),
            ),
            (
                "anthropic",
                json!({"messages": [{"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": "Rain", "is_error": false}]}]}),
            ),
            ("chat", json!({"messages": [{"role": "tool", "tool_call_id": "c", "content": "Rain"}]})),
            (
                "gemini",
                json!({"contents": [{"role": "user", "parts": [
                    {"functionResponse": {"id": "c", "name": "weather", "response": {"output": "Rain"}}}]}]}),
            ),
        ] {
            let [output] = *outputs(&body, "c", api(dialect)) else { panic!("{dialect}") };
            assert!(super::super::turns::holds(output, "Rain"), "{dialect}");
            assert!(outputs(&body, "d", api(dialect)).is_empty(), "{dialect}");
        }
    }

    #[test]
    fn a_thought_is_kept_if_its_signature_is() {
        let thought = json!({"type": "thinking", "thinking": "a", "signature": "s"});
        let request = json!({"messages": [{"role": "assistant", "content": [thought]}]});
        let found = sealed(&request, api("anthropic"));
        let [found] = found.as_slice() else { panic!("{found:?}") };
        assert!(is_kept(found, thought.as_object().expect("it is one")));
        assert!(!is_kept(found, json!({"signature": "t"}).as_object().expect("it is one")));
        assert!(sealed(&request, api("chat")).is_empty());
    }
}
