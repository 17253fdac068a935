//! Conversations that each request repeats as a whole.

use clients::protocol::CaseStep;
use clients::{Answer, ToolCall};
use recordings::capture::{Entry, Format, read};
use serde_json::{Value, json};
use spec::Api;

/// Returns the message of the assistant that a body has.
pub(super) fn said_in(response: &Value) -> Value {
    match response.pointer("/choices/0/message") {
        Some(message) => json!({"role": "assistant", "content": message["content"],
            "tool_calls": message.get("tool_calls").cloned().unwrap_or_else(|| json!([]))}),
        None => json!({"role": "assistant", "content": response["content"]}),
    }
}

/// Returns the message of the assistant that a stream has.
pub(super) fn said(body: &[u8]) -> Value {
    let (mut blocks, mut inputs, mut text, mut calls) =
        (Vec::<Value>::new(), Vec::<String>::new(), String::new(), Vec::<Value>::new());
    let _ = read(body, Some(Format::Sse), &mut |entry| {
        let Entry::Event(frame) = entry else { return };
        let event: Value = frame.data.and_then(|data| serde_json::from_str(&data).ok()).unwrap_or_default();
        if let Some(block) = event.get("content_block") {
            blocks.push(block.clone());
            inputs.push(String::new());
        }
        let delta = event.get("delta").or_else(|| event.pointer("/choices/0/delta"));
        for (member, value) in delta.and_then(Value::as_object).into_iter().flatten() {
            match (member.as_str(), value.as_str(), blocks.last_mut(), inputs.last_mut()) {
                ("partial_json", Some(part), _, Some(input)) => *input += part,
                ("text" | "thinking" | "signature", Some(part), Some(block), _) => {
                    block[member] = json!(block[member].as_str().unwrap_or_default().to_owned() + part);
                }
                ("content", Some(part), None, _) => text += part,
                _ => {}
            }
        }
        for call in delta.and_then(|delta| delta.get("tool_calls")?.as_array()).into_iter().flatten() {
            match calls.iter_mut().find(|known| known["index"] == call["index"]) {
                Some(known) => {
                    let arguments = known["function"]["arguments"].as_str().unwrap_or_default().to_owned();
                    let more = call["function"]["arguments"].as_str().unwrap_or_default();
                    known["function"]["arguments"] = json!(arguments + more);
                }
                None => calls.push(call.clone()),
            }
        }
    });
    for (block, input) in blocks.iter_mut().zip(&inputs).filter(|(_, input)| !input.is_empty()) {
        block["input"] = serde_json::from_str(input).unwrap_or_default();
    }
    if !blocks.is_empty() {
        return json!({"role": "assistant", "content": blocks});
    }
    for call in calls.iter_mut().filter_map(Value::as_object_mut) {
        call.shift_remove("index");
    }
    json!({"role": "assistant", "content": text, "tool_calls": calls})
}

/// Returns the request of a step, if it sends one.
pub(super) fn following(
    step: &CaseStep,
    before: &Value,
    said: &Value,
    (answer, api): (&Answer, &Api),
    kind: &str,
) -> Option<Value> {
    let mut request = before.clone();
    let mut said = said.clone();
    if said["tool_calls"].as_array().is_some_and(Vec::is_empty) {
        said.as_object_mut()?.shift_remove("tool_calls");
    }
    if kind == "changes-thoughts" {
        for block in said["content"].as_array_mut().into_iter().flatten() {
            let members = block.as_object_mut()?;
            members.get_mut("signature").into_iter().for_each(|signature| *signature = json!("another"));
        }
    }
    if kind == "drops-thoughts"
        && let Some(blocks) = said["content"].as_array_mut()
    {
        blocks.retain(|block| !block["type"].as_str().is_some_and(|kind| kind.contains("thinking")));
    }
    let messages = request["messages"].as_array_mut()?;
    if kind != "forgets-the-answer" {
        messages.push(said);
    }
    match step {
        CaseStep::Continue { request } => messages.extend(request["messages"].as_array()?.iter().cloned()),
        CaseStep::AnswerCalls { outputs } => {
            let output = |call: &ToolCall| {
                let id = if kind == "mixes-up-calls" { "call_0" } else { &call.id };
                let id = serde_json::to_string(id).unwrap_or_default();
                let output = serde_json::to_string(outputs.get(&call.name)?).unwrap_or_default();
                let entry = api.request.result?.entry.replace("\"{id}\"", &id);
                serde_json::from_str(&entry.replace("\"{output}\"", &output)).ok()
            };
            let results: Vec<Value> = answer.calls.iter().filter_map(output).collect();
            match api.request.result?.within {
                Some(within) => {
                    let all = within.replace("\"{results}\"", &Value::from(results).to_string());
                    messages.push(serde_json::from_str(&all).ok()?);
                }
                None => messages.extend(results),
            }
        }
        CaseStep::Resume => return None,
    }
    Some(request)
}
