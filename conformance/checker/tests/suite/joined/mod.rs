//! Answers of Messages and of Chat Completions, joined and read as the SDKs of these APIs do: by the names of members.

use std::collections::BTreeMap;

use checker::{Answer, Tokens, ToolCall};
use serde_json::{Map, Value, json};

/// Joins events to the body that an SDK returns, and reads that. None if the stream has no answer.
pub(crate) type Join = fn(&[Value]) -> Option<(Value, Answer)>;

/// The APIs by name.
pub(crate) const APIS: &[(&str, Join)] = &[("messages", message), ("chat", completion)];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn append(to: &mut Value, more: &Value) {
    *to = Value::from(text(to) + more.as_str().unwrap_or_default());
}

fn tokens(input: &Value, output: &Value) -> Option<Tokens> {
    let tokens = Tokens { input: input.as_u64(), output: output.as_u64() };
    (tokens != Tokens::default()).then_some(tokens)
}

fn message(events: &[Value]) -> Option<(Value, Answer)> {
    let mut message = events.iter().find(|event| event["type"] == "message_start")?["message"].clone();
    let mut inputs: BTreeMap<usize, String> = BTreeMap::new();
    for event in events {
        let at = usize::try_from(event["index"].as_u64().unwrap_or_default()).unwrap();
        let delta = &event["delta"];
        match event["type"].as_str()? {
            "content_block_start" => {
                message["content"].as_array_mut()?.push(event["content_block"].clone());
            }
            "content_block_delta" => match delta["type"].as_str()? {
                "text_delta" => append(&mut message["content"][at]["text"], &delta["text"]),
                "thinking_delta" => append(&mut message["content"][at]["thinking"], &delta["thinking"]),
                "input_json_delta" => *inputs.entry(at).or_default() += delta["partial_json"].as_str()?,
                _ => {}
            },
            "message_delta" => {
                message["stop_reason"] = delta["stop_reason"].clone();
                for (name, count) in event["usage"].as_object()?.iter().filter(|(_, count)| !count.is_null())
                {
                    message["usage"][name] = count.clone();
                }
            }
            _ => {}
        }
    }
    for (at, input) in inputs.into_iter().filter(|(_, input)| !input.is_empty()) {
        // A call that was cut off has no input in JSON.
        message["content"][at]["input"] = serde_json::from_str(&input).unwrap_or(Value::from(input));
    }
    let blocks = message["content"].as_array()?;
    let of = |kind: &str| blocks.iter().filter(move |block| block["type"] == kind).collect::<Vec<_>>();
    let answer = Answer {
        texts: of("text").into_iter().map(|block| text(&block["text"])).collect(),
        refusal: String::new(),
        reasoning: of("thinking").into_iter().map(|block| text(&block["thinking"])).collect(),
        calls: of("tool_use")
            .into_iter()
            .map(|block| call(&block["id"], &block["name"], &block["input"]))
            .collect(),
        status: message["stop_reason"].as_str().map(str::to_owned),
        id: message["id"].as_str().map(str::to_owned),
        tokens: tokens(&message["usage"]["input_tokens"], &message["usage"]["output_tokens"]),
    };
    Some((message, answer))
}

fn call(id: &Value, name: &Value, arguments: &Value) -> ToolCall {
    let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    ToolCall { id: text(id), name: text(name), arguments }
}

fn completion(chunks: &[Value]) -> Option<(Value, Answer)> {
    let mut choices: BTreeMap<u64, Value> = BTreeMap::new();
    let (mut calls, mut usage): (BTreeMap<(u64, u64), Value>, Value) = (BTreeMap::new(), Value::Null);
    let id = chunks.iter().map(|chunk| text(&chunk["id"])).find(|id| !id.is_empty())?;
    for chunk in chunks {
        if chunk["usage"].is_object() {
            usage = chunk["usage"].clone();
        }
        for part in chunk["choices"].as_array().into_iter().flatten() {
            let (at, delta) = (part["index"].as_u64()?, &part["delta"]);
            let choice = choices.entry(at).or_insert_with(|| {
                json!({"index": at, "message": {"role": "assistant", "content": null}, "finish_reason": null})
            });
            for (name, value) in delta.as_object().unwrap_or(&Map::new()) {
                if matches!(&**name, "content" | "refusal" | "reasoning" | "reasoning_content")
                    && value.is_string()
                {
                    append(&mut choice["message"][name], value);
                }
            }
            if part["finish_reason"].is_string() {
                choice["finish_reason"] = part["finish_reason"].clone();
            }
            for part in delta["tool_calls"].as_array().into_iter().flatten() {
                let call = calls.entry((at, part["index"].as_u64()?)).or_insert_with(|| part.clone());
                if call["function"]["arguments"].is_string() && part["id"].is_null() {
                    append(&mut call["function"]["arguments"], &part["function"]["arguments"]);
                }
            }
        }
    }
    for ((at, _), call) in calls {
        let list = &mut choices.get_mut(&at)?["message"]["tool_calls"];
        if list.is_null() {
            *list = json!([]);
        }
        list.as_array_mut()?.push(call);
    }
    let choices: Vec<Value> = choices.into_values().collect();
    let first = choices.first().cloned().unwrap_or_default();
    let said = &first["message"];
    let tool_calls = said["tool_calls"].as_array().into_iter().flatten();
    let answer = Answer {
        texts: [text(&said["content"])].into_iter().filter(|text| !text.is_empty()).collect(),
        refusal: text(&said["refusal"]),
        // Some vendors send the same in both.
        reasoning: [&said["reasoning_content"], &said["reasoning"]]
            .map(text)
            .into_iter()
            .max()
            .unwrap_or_default(),
        calls: tool_calls
            .map(|one| call(&one["id"], &one["function"]["name"], &one["function"]["arguments"]))
            .collect(),
        status: first["finish_reason"].as_str().map(str::to_owned),
        id: Some(id.clone()),
        tokens: tokens(&usage["prompt_tokens"], &usage["completion_tokens"]),
    };
    Some((json!({"id": id, "choices": choices, "usage": usage}), answer))
}
