//! Comparison of related responses, which rules cannot do, as they check single exchanges.

use checker::Answer;
use serde_json::Value;
use spec::Api;

use super::differences::list_differences;
use super::facts::Facts;
use super::responses::operated;
use crate::plan::ScenarioCase;
use results::{Judgement, UndecidedKind, Verdict};

pub(super) fn agreement(case: &ScenarioCase, attempts: &[&Facts], other: Option<&Facts>) -> Judgement {
    let Some(own) = attempts.last() else {
        return Judgement::new(Verdict::NotExercised, "no request was sent");
    };
    if let Some(words) = &case.says
        && !attempts.iter().any(|facts| facts.says(words))
    {
        return unsaid(case, words);
    }
    if case.compared.is_none() {
        return Judgement::PASS;
    }
    let Some(other) = other else {
        return Judgement::new(Verdict::NotExercised, "there is no other response to compare");
    };
    if case.is_twin { twins(own, other, case.api) } else { operated(case, own, other) }
}

/// A model may ignore the prompt, but cannot know words that the endpoint did not pass on.
fn unsaid(case: &ScenarioCase, words: &str) -> Judgement {
    if case.scenario.previous.is_some() {
        let reason = format!("no response contains {words:?}, which only the earlier turn contains");
        return Judgement::new(Verdict::Fail, reason);
    }
    let reason = format!("no response contains {words:?}, which the request asks for");
    Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotElicited, reason)
}

/// A non-streaming response has the shape of the response at the end of its stream: in the response, and in all items
/// and parts that both have, no member is missing, and none is of another kind.
fn twins(own: &Facts, stream: &Facts, api: &Api) -> Judgement {
    let is_repeated = api.request.turn.is_none();
    let Some(whole) = own.response.as_ref().filter(|_| !is_repeated || stream.response.is_some()) else {
        return Judgement::new(Verdict::NotExercised, "there is no response to compare");
    };
    let mut found = Vec::new();
    // A stream that repeats no whole response has at most the members of its beginning.
    if let Some(streamed) = &stream.response {
        shapes(whole, streamed, api, "", &mut found);
    }
    if let Err(reason) = list_differences("its fields differ from those of the streamed response", &found) {
        return Judgement::new(Verdict::Fail, reason);
    }
    // The model decides whether it reasons.
    let kinds = |facts: &Facts| {
        let kinds = facts.output(api).iter().filter_map(|item| item.get("type")?.as_str().map(str::to_owned));
        kinds.filter(|kind| kind != "reasoning").collect::<std::collections::BTreeSet<_>>()
    };
    let missing: Vec<String> = if is_repeated {
        kinds(stream).difference(&kinds(own)).cloned().collect()
    } else {
        lost(&own.answer, &stream.answer).map(str::to_owned).collect()
    };
    if missing.is_empty() {
        return Judgement::PASS;
    }
    let reason = format!("it lacks what the stream had: {}", missing.join(", "));
    Judgement::new(Verdict::NotExercised, reason)
}

/// Kinds of content that only the streamed response has.
fn lost(whole: &Answer, streamed: &Answer) -> impl Iterator<Item = &'static str> {
    let kinds = [
        ("text", !whole.text().is_empty(), !streamed.text().is_empty()),
        ("a refusal", !whole.refusal.is_empty(), !streamed.refusal.is_empty()),
        ("calls", !whole.calls.is_empty(), !streamed.calls.is_empty()),
        ("token counts", whole.tokens.is_some(), streamed.tokens.is_some()),
    ];
    kinds.into_iter().filter(|(_, is_whole, is_streamed)| *is_streamed && !is_whole).map(|(kind, ..)| kind)
}

fn shapes(whole: &Value, streamed: &Value, api: &Api, at: &str, found: &mut Vec<String>) {
    match (whole, streamed) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(whole), Value::Object(streamed)) => {
            for (name, streamed) in streamed {
                match whole.get(name) {
                    Some(whole) => shapes(whole, streamed, api, &format!("{at}/{name}"), found),
                    None if streamed.is_null() || api.encrypted.is_some_and(|it| it.member == name) => {}
                    None => found.push(format!("{at}/{name} is missing")),
                }
            }
        }
        (Value::Array(whole), Value::Array(streamed)) => {
            let kind = |entry: &Value| entry.get("type").and_then(Value::as_str).map(str::to_owned);
            let mut seen = Vec::new();
            for one in streamed.iter().filter(|entry| entry.is_object()) {
                let own = kind(one);
                let Some(other) = whole.iter().find(|entry| kind(entry) == own) else { continue };
                let name = own.clone().unwrap_or_default();
                if !seen.contains(&own) {
                    seen.push(own);
                    shapes(other, one, api, &format!("{at}/{name}"), found);
                }
            }
        }
        _ if kind_of(whole) == kind_of(streamed) => {}
        _ => found.push(format!("{at} is {} instead of {}", kind_of(whole), kind_of(streamed))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(response: Value) -> Facts {
        let response_id = response["id"].as_str().map(str::to_owned);
        Facts { response: Some(response), response_id, ..Facts::default() }
    }

    #[test]
    fn twins_have_one_shape() {
        let streamed = of(json!({"id": "r", "error": null, "usage": {"input_tokens": 1},
            "output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "a"}]}]}));
        let verdict = |response: Value| {
            twins(&of(response), &streamed, spec::dialect("openai").unwrap().api).to_string()
        };
        let message =
            json!({"type": "message", "content": [{"type": "output_text", "text": "b"}], "more": 1});
        let whole = json!({"id": "q", "usage": {"input_tokens": 2}, "output": [message]});
        assert_eq!(verdict(whole.clone()), "pass");
        let mut other = whole.clone();
        other["usage"] = json!({});
        other["output"][0]["content"][0]["text"] = json!(["b"]);
        assert_eq!(
            verdict(other),
            "fail (its fields differ from those of the streamed response: /usage/input_tokens is missing; \
             /output/message/content/output_text/text is an array instead of a string)"
        );
        let mut empty = whole;
        empty["output"] = json!([]);
        assert_eq!(verdict(empty), "not exercised (it lacks what the stream had: message)");
    }
}
