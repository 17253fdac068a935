//! Results of operations on a response of the Responses API.

use serde_json::Value;
use spec::table::Operation;

use super::super::differences::{list_differences, short};
use super::super::facts::Facts;
use crate::plan::ScenarioCase;
use results::{Judgement, Verdict};

/// The operation has to return the response that it is about.
pub(in crate::judge) fn operated(case: &ScenarioCase, own: &Facts, other: &Facts) -> Judgement {
    let found = match case.scenario.operation {
        Operation::Create | Operation::Compact | Operation::Count | Operation::Steer | Operation::Inject => {
            Ok(())
        }
        Operation::Retrieve => retrieved(own, other),
        Operation::Poll => same_id(own, other),
        Operation::Resume => resumed(own, other),
        Operation::Delete => deleted(own, other),
        Operation::Cancel => return cancelled(own, other),
        Operation::InputItems => input_items(own, other),
    };
    found.map_or_else(|reason| Judgement::new(Verdict::Fail, reason), |()| Judgement::PASS)
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

/// Members that only one has do not count. Encrypted content always differs.
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
}
