//! async-openai. Lines are those of `openai_python.py`.

use std::io::BufRead as _;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::responses::{
    CreateResponse, OutputItem, Response, ResponseStreamEvent, SummaryPart,
};
use futures::StreamExt as _;
use serde_json::{Value, json};

type Problem = Box<dyn std::error::Error>;

/// What a response holds.
fn summed(response: &Response) -> Result<Value, Problem> {
    let (mut calls, mut reasoning) = (Vec::new(), String::new());
    for item in &response.output {
        match item {
            OutputItem::FunctionCall(call) => {
                calls.push(json!([call.name, serde_json::from_str::<Value>(&call.arguments)?]));
            }
            OutputItem::Reasoning(item) => {
                for SummaryPart::SummaryText(part) in &item.summary {
                    reasoning += &part.text;
                }
            }
            _ => {}
        }
    }
    Ok(json!({
        "final": response.output_text().unwrap_or_default(),
        "calls": calls,
        "reasoning": reasoning,
        "status": response.status,
        "id": response.id,
        "previous": response.previous_response_id,
    }))
}

async fn read(client: &Client<OpenAIConfig>, is_stream: bool, request: Value) -> Result<Value, Problem> {
    let request: CreateResponse = serde_json::from_value(request)?;
    if !is_stream {
        let response = client.responses().create(request).await?;
        let mut told = summed(&response)?;
        told["text"] = told["final"].clone();
        return Ok(told);
    }
    let (mut text, mut told) = (String::new(), json!({}));
    let mut stream = client.responses().create_stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ResponseStreamEvent::ResponseOutputTextDelta(event) => text += &event.delta,
            ResponseStreamEvent::ResponseCompleted(event) => told = summed(&event.response)?,
            ResponseStreamEvent::ResponseIncomplete(event) => told = summed(&event.response)?,
            ResponseStreamEvent::ResponseFailed(event) => told = summed(&event.response)?,
            _ => {}
        }
    }
    told["text"] = text.into();
    Ok(told)
}

#[tokio::main]
async fn main() -> Result<(), Problem> {
    let mut last = Value::Null;
    for line in std::io::stdin().lock().lines() {
        let mut case: Value = serde_json::from_str(&line?)?;
        let url = case["url"].as_str().unwrap_or_default().to_owned();
        let client = Client::with_config(OpenAIConfig::new().with_api_base(url).with_api_key("none"));
        let name = case["name"].as_str().unwrap_or_default().to_owned();
        if name == "turns" {
            case["request"]["previous_response_id"] = last.clone();
        }
        let asked = case["request"]["previous_response_id"].clone();
        let mut told = match read(&client, name != "json", case["request"].take()).await {
            Ok(told) => told,
            Err(problem) => json!({ "error": problem.to_string() }),
        };
        if name == "text" {
            last = told["id"].clone();
        }
        told["name"] = name.into();
        told["asked_previous"] = asked;
        println!("{told}");
    }
    Ok(())
}
