//! async-openai, over the line protocol of docs/clients.md.

use std::io::BufRead as _;
use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::responses::{
    CreateResponse, OutputItem, OutputMessageContent, Response, ResponseStreamEvent, SummaryPart,
};
use futures::StreamExt as _;
use serde_json::{Value, json};

type Problem = Box<dyn std::error::Error>;

/// Returns what the client understood of a response.
fn understood(response: &Response) -> Value {
    let (mut calls, mut reasoning, mut refusal) = (Vec::new(), String::new(), String::new());
    for item in &response.output {
        match item {
            OutputItem::FunctionCall(call) => {
                calls.push(json!({"call_id": call.call_id, "name": call.name, "arguments": call.arguments}));
            }
            OutputItem::CustomToolCall(call) => {
                calls.push(json!({"call_id": call.call_id, "name": call.name, "arguments": call.input}));
            }
            OutputItem::Reasoning(item) => {
                for SummaryPart::SummaryText(part) in &item.summary {
                    reasoning += &part.text;
                }
            }
            OutputItem::Message(message) => {
                for part in &message.content {
                    if let OutputMessageContent::Refusal(part) = part {
                        refusal += &part.refusal;
                    }
                }
            }
            _ => {}
        }
    }
    let mut told = json!({
        "text": response.output_text().unwrap_or_default(),
        "calls": calls,
        "refusal": refusal,
        "response_status": response.status,
        "response_id": response.id,
    });
    // The texts of reasoning have no type in every version.
    if !reasoning.is_empty() {
        told["reasoning"] = reasoning.into();
    }
    told
}

/// Returns the request of a step, given what was understood of the previous response.
fn following(asked: &Value, step: &Value, before: &Value) -> Value {
    let mut request = step["request"].clone();
    if step["step"] == "answer-calls" {
        let output = |call: &Value| {
            let output = &step["outputs"][call["name"].as_str().unwrap_or_default()];
            json!({"type": "function_call_output", "call_id": call["call_id"], "output": output})
        };
        let input: Vec<Value> = before["calls"].as_array().into_iter().flatten().map(output).collect();
        request = json!({"model": asked["request"]["model"], "input": input});
    }
    request["previous_response_id"] = before["response_id"].clone();
    request
}

async fn ask(asked: &Value) -> Result<Value, Problem> {
    let text = |name: &str| asked[name].as_str().unwrap_or_default();
    let steps: Vec<&Value> = asked["steps"].as_array().into_iter().flatten().collect();
    if text("transport") == "websocket" || steps.iter().any(|step| step["step"] == "resume") {
        return Ok(json!({"status": "unsupported"}));
    }
    let config = OpenAIConfig::new().with_api_base(text("base_url")).with_api_key(text("api_key"));
    let client = Client::with_config(config);
    let mut told = send(&client, asked, &asked["request"]).await?;
    for step in steps {
        told = send(&client, asked, &following(asked, step, &told)).await?;
    }
    Ok(told)
}

async fn send(client: &Client<OpenAIConfig>, asked: &Value, request: &Value) -> Result<Value, Problem> {
    let request: CreateResponse = serde_json::from_value(request.clone())?;
    if asked["transport"] == "json" {
        return Ok(understood(&client.responses().create(request).await?));
    }
    let mut streamed = String::new();
    // Without an event that ends the response, there is no text.
    let mut told = json!({"text": null, "response_status": null});
    let mut stream = client.responses().create_stream(request).await?;
    let mut events = 0;
    while let Some(event) = stream.next().await {
        events += 1;
        match event? {
            ResponseStreamEvent::ResponseOutputTextDelta(event) => streamed += &event.delta,
            ResponseStreamEvent::ResponseCompleted(event) => told = understood(&event.response),
            ResponseStreamEvent::ResponseIncomplete(event) => told = understood(&event.response),
            ResponseStreamEvent::ResponseFailed(event) => told = understood(&event.response),
            _ => {}
        }
        if asked["cancel_after_events"] == events {
            return Ok(json!({"streamed": streamed}));
        }
    }
    told["streamed"] = streamed.into();
    Ok(told)
}

#[tokio::main]
async fn main() -> Result<(), Problem> {
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let limit = Duration::from_millis(asked["timeout_ms"].as_u64().unwrap_or_default());
        let told = match tokio::time::timeout(limit, ask(&asked)).await {
            Ok(told) => told.map_err(|problem| problem.to_string()),
            Err(_) => Err("timeout".to_owned()),
        };
        let mut reply = told.unwrap_or_else(|problem| json!({"status": "error", "error": {"message": problem}}));
        if reply.get("status").is_none() {
            reply["status"] = "ok".into();
        }
        reply["case"] = asked["case"].clone();
        reply["client_version"] = "0.43.0".into();
        println!("{reply}");
    }
    Ok(())
}
