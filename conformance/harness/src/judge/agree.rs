//! Comparison of related responses, which rules cannot do, as they check single exchanges.

use serde_json::Value;
use spec::table::Operation;

use super::facts::Facts;
use crate::plan::ScenarioCase;
use results::{Judgement, UndecidedKind, Verdict};

/// Maximum number of differences.
const MAX_DIFFERENCES: usize = 3;

/// Returns the verdict of comparing a response with its related one, if it has one.
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
    let found = match case.scenario.operation {
        _ if case.is_twin => return twins(own, other),
        Operation::Create | Operation::Compact | Operation::Steer | Operation::Inject => Ok(()),
        Operation::Retrieve => retrieved(own, other),
        Operation::Poll => polled(own, other),
        Operation::Resume => resumed(own, other),
        Operation::Delete => deleted(own, other),
        Operation::Cancel => return cancelled(own, other),
        Operation::InputItems => input_items(own, other),
    };
    found.map_or_else(|reason| Judgement::new(Verdict::Fail, reason), |()| Judgement::PASS)
}

/// Returns the verdict of missing words: a model may ignore the prompt, but cannot know words that the
/// endpoint did not pass on.
fn unsaid(case: &ScenarioCase, words: &str) -> Judgement {
    if case.scenario.previous.is_some() {
        let reason = format!("no response contains {words:?}, which only the earlier turn contains");
        return Judgement::new(Verdict::Fail, reason);
    }
    let reason = format!("no response contains {words:?}, which the request asks for");
    Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotElicited, reason)
}

fn member<'v>(facts: &'v Facts, name: &str) -> &'v Value {
    facts.response.as_ref().and_then(|response| response.get(name)).unwrap_or(&Value::Null)
}

fn same_id(own: &Facts, other: &Facts) -> Result<(), String> {
    if own.response_id == other.response_id {
        return Ok(());
    }
    let id = |facts: &Facts| facts.response_id.clone().unwrap_or_else(|| "nothing".to_owned());
    Err(format!("it is for {:?}, but {:?} was requested", id(own), id(other)))
}

fn has_ended(status: &Value) -> bool {
    matches!(status.as_str(), Some("completed" | "incomplete" | "failed" | "cancelled"))
}

fn retrieved(own: &Facts, other: &Facts) -> Result<(), String> {
    const KEPT: [&str; 5] = ["id", "status", "model", "output", "usage"];
    let (Some(now), Some(then)) = (&own.response, &other.response) else {
        return Err("there is no response to compare".to_owned());
    };
    let lost = KEPT.iter().filter(|name| then.get(**name).is_some_and(|it| !it.is_null()));
    let mut found: Vec<String> = lost
        .filter(|name| now.get(**name).is_none_or(Value::is_null))
        .map(|name| format!("/{name} is missing"))
        .collect();
    differences(now, then, "", &mut found);
    list_differences("it differs from the streamed response", &found)
}

fn list_differences(what: &str, found: &[String]) -> Result<(), String> {
    if found.is_empty() {
        return Ok(());
    }
    let listed = found.iter().take(MAX_DIFFERENCES).map(String::as_str).collect::<Vec<_>>().join("; ");
    let more = found.len().saturating_sub(MAX_DIFFERENCES);
    Err(format!("{what}: {listed}{}", if more > 0 { format!("; and {more} more") } else { String::new() }))
}

/// Returns where two values differ, ignoring members that only one has. Encrypted content always differs.
fn differences(now: &Value, then: &Value, at: &str, found: &mut Vec<String>) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            for (name, now) in now.iter().filter(|(name, _)| *name != "encrypted_content") {
                if let Some(then) = then.get(name) {
                    differences(now, then, &format!("{at}/{name}"), found);
                }
            }
        }
        (Value::Array(now), Value::Array(then)) if now.len() == then.len() => {
            for (index, (now, then)) in now.iter().zip(then).enumerate() {
                differences(now, then, &format!("{at}/{index}"), found);
            }
        }
        (Value::Array(now), Value::Array(then)) => {
            found.push(format!("{at} has {} entries instead of {}", now.len(), then.len()));
        }
        (Value::Number(one), Value::Number(two)) if one.as_f64() == two.as_f64() => {}
        _ if now == then => {}
        _ => found.push(format!("{at} is {} instead of {}", short(now), short(then))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn polled(own: &Facts, other: &Facts) -> Result<(), String> {
    same_id(own, other)
}

fn resumed(own: &Facts, other: &Facts) -> Result<(), String> {
    same_id(own, other)?;
    let (Some((first, _)), Some((_, last))) = (own.numbers, other.numbers) else {
        return Err("there are no sequence numbers to resume from".to_owned());
    };
    if first == last.saturating_add(1) {
        return Ok(());
    }
    Err(format!("the stream resumes with sequence_number {first}, but {last} was the last one"))
}

fn deleted(own: &Facts, other: &Facts) -> Result<(), String> {
    same_id(own, other)?;
    match member(own, "deleted") {
        Value::Bool(true) => Ok(()),
        other => Err(format!("`deleted` is {}, not true", short(other))),
    }
}

fn cancelled(own: &Facts, other: &Facts) -> Judgement {
    if let Err(reason) = same_id(own, other) {
        return Judgement::new(Verdict::Fail, reason);
    }
    match member(own, "status") {
        Value::String(status) if status == "cancelled" => Judgement::PASS,
        status if has_ended(status) => {
            let reason = format!("the response had already ended: its status is {}", short(status));
            Judgement::new(Verdict::NotExercised, reason)
        }
        status => Judgement::new(Verdict::Fail, format!("the status is {}, not cancelled", short(status))),
    }
}

/// Checks that the input of the user is among the items.
fn input_items(own: &Facts, other: &Facts) -> Result<(), String> {
    let Some(said) = other.request.as_ref().and_then(|request| request.get("input")?.as_str()) else {
        return Ok(());
    };
    let items = member(own, "data").as_array().map(Vec::as_slice).unwrap_or_default();
    let holds = |item: &Value| {
        let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
        item.get("role").is_some_and(|role| role == "user")
            && parts.filter_map(|part| part.get("text")?.as_str()).any(|text| text == said)
    };
    if items.iter().any(holds) {
        return Ok(());
    }
    Err(format!("none of {} items is the input of the user", items.len()))
}

/// Returns whether a non-streaming response has the shape of the one at the end of its stream: in the response, and in all
/// items and parts that both have, no member is missing, and none is of another kind.
fn twins(own: &Facts, stream: &Facts) -> Judgement {
    let (Some(whole), Some(streamed)) = (&own.response, &stream.response) else {
        return Judgement::new(Verdict::NotExercised, "there is no response to compare");
    };
    let mut found = Vec::new();
    shapes(whole, streamed, "", &mut found);
    if let Err(reason) = list_differences("its fields differ from those of the streamed response", &found) {
        return Judgement::new(Verdict::Fail, reason);
    }
    // The model decides whether it reasons.
    let kinds = |facts: &Facts| {
        let output = facts.output();
        let kinds = output.iter().filter_map(|item| item.get("type")?.as_str().map(str::to_owned));
        kinds.filter(|kind| kind != "reasoning").collect::<std::collections::BTreeSet<_>>()
    };
    let missing: Vec<String> = kinds(stream).difference(&kinds(own)).cloned().collect();
    if missing.is_empty() {
        return Judgement::PASS;
    }
    let reason = format!("it lacks what the stream had: {}", missing.join(", "));
    Judgement::new(Verdict::NotExercised, reason)
}

fn shapes(whole: &Value, streamed: &Value, at: &str, found: &mut Vec<String>) {
    match (whole, streamed) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(whole), Value::Object(streamed)) => {
            for (name, streamed) in streamed {
                match whole.get(name) {
                    Some(whole) => shapes(whole, streamed, &format!("{at}/{name}"), found),
                    None if streamed.is_null() || name == "encrypted_content" => {}
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
                    shapes(other, one, &format!("{at}/{name}"), found);
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

    fn reason(found: Result<(), String>) -> String {
        found.err().unwrap_or_default()
    }

    #[test]
    fn what_is_retrieved_is_what_was_streamed() {
        let then =
            of(json!({"id": "r", "status": "completed", "output": [{"id": "m", "x": 1.0}], "usage": {}}));
        let now = |response| reason(retrieved(&of(response), &then));
        let same =
            json!({"id": "r", "status": "completed", "output": [{"id": "m", "x": 1, "y": 2}], "usage": {}});
        assert_eq!(now(same), "");
        let other = json!({"id": "r", "status": "failed", "output": []});
        assert_eq!(
            now(other),
            "it differs from the streamed response: /usage is missing; /status is \"failed\" instead of \
             \"completed\"; /output has 0 entries instead of 1"
        );
        let changed = json!({"id": "r", "status": "completed", "output": [{"id": "n"}], "usage": {}});
        assert!(now(changed).contains("/output/0/id is \"n\" instead of \"m\""));
    }

    #[test]
    fn streams_go_on_where_they_were_left() {
        let cut = Facts { numbers: Some((0, 3)), response_id: Some("r".to_owned()), ..Facts::default() };
        let from = |first| Facts { numbers: Some((first, 9)), ..cut.clone() };
        assert_eq!(resumed(&from(4), &cut), Ok(()));
        assert!(
            reason(resumed(&from(0), &cut)).contains("resumes with sequence_number 0, but 3 was the last")
        );
        let other = Facts { response_id: Some("q".to_owned()), ..from(4) };
        assert!(reason(resumed(&other, &cut)).contains("it is for \"q\""));
        assert!(resumed(&Facts { numbers: None, ..cut.clone() }, &cut).is_err());
    }

    #[test]
    fn operations_do_what_they_say() {
        let then = of(json!({"id": "r", "status": "queued"}));
        assert_eq!(deleted(&of(json!({"id": "r", "deleted": true})), &then), Ok(()));
        assert!(deleted(&of(json!({"id": "r", "deleted": false})), &then).is_err());
        assert!(deleted(&of(json!({"id": "q", "deleted": true})), &then).is_err());
        let cancel = |status: &str| cancelled(&of(json!({"id": "r", "status": status})), &then).verdict;
        assert_eq!(
            ["cancelled", "completed", "in_progress"].map(cancel),
            [Verdict::Pass, Verdict::NotExercised, Verdict::Fail]
        );
        let stream = Facts { request: Some(json!({"input": "Hi"})), ..Facts::default() };
        let items = |text: &str| {
            let item = json!({"role": "user", "content": [{"type": "input_text", "text": text}]});
            input_items(&of(json!({"data": [item]})), &stream)
        };
        assert_eq!((items("Hi").is_ok(), items("Ho").is_ok()), (true, false));
    }

    #[test]
    fn twins_have_one_shape() {
        let streamed = of(json!({"id": "r", "error": null, "usage": {"input_tokens": 1},
            "output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "a"}]}]}));
        let verdict = |response: Value| twins(&of(response), &streamed).to_string();
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
