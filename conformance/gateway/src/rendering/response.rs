//! The response object in lifecycle events and in JSON responses.

use serde_json::{Map, Value, json};
use spec::Dialect;

use super::style::{DialectStyle, pick};
use crate::content::plan::{Ending, ResponsePlan};
use crate::content::script::text;

/// Creation time of all responses, which makes them reproducible.
pub(crate) const CREATED: u64 = 1_785_000_000;

/// The error of a failed response.
pub(super) const FAILURE: (&str, &str) =
    ("server_error", "The server had an error while processing your request.");

/// A response throughout its lifecycle.
pub(super) struct Resource<'p> {
    style: DialectStyle,
    plan: &'p ResponsePlan,
    /// The constant part.
    base: Value,
}

impl<'p> Resource<'p> {
    pub(super) fn new(
        request: &Value,
        plan: &'p ResponsePlan,
        dialect: &Dialect,
        style: DialectStyle,
    ) -> Self {
        let mut base =
            if style == DialectStyle::OpenAi { openai(request) } else { open_responses(request, style) };
        base["id"] =
            json!(if dialect.name == "eugpt" { "550e8400-e29b-41d4-a716-446655440000" } else { "resp_1" });
        Self { style, plan, base }
    }

    /// Returns the response in progress.
    pub(super) fn pending(&self, status: &str) -> Value {
        let mut response = self.base.clone();
        response["status"] = json!(status);
        self.spoken(response, &[], false)
    }

    /// Returns the final response.
    pub(super) fn ended(&self, output: &[Value]) -> Value {
        let mut response = self.base.clone();
        let status = match self.plan.ending {
            Ending::Completed => "completed",
            Ending::Incomplete(reason) => {
                response["incomplete_details"] = json!({"reason": reason});
                "incomplete"
            }
            Ending::Failed(_) => {
                response["error"] = json!({"code": FAILURE.0, "message": FAILURE.1});
                "failed"
            }
        };
        response["status"] = json!(status);
        if response.get("service_tier").is_some() {
            response["service_tier"] = json!("default");
        }
        response["output"] = json!(output);
        if status == "completed" {
            response["completed_at"] = json!(CREATED + 2);
        }
        if status != "failed" {
            response["usage"] = self.usage();
        }
        self.spoken(response, output, true)
    }

    fn usage(&self) -> Value {
        let (input, output) = (self.plan.input_tokens, self.plan.output_tokens());
        let mut cached = json!({"cached_tokens": 0});
        if self.style == DialectStyle::OpenAi {
            cached["cache_write_tokens"] = json!(0);
        }
        json!({"input_tokens": input, "input_tokens_details": cached, "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": self.plan.reasoning_tokens()},
            "total_tokens": input + output})
    }

    fn spoken(&self, mut response: Value, output: &[Value], has_ended: bool) -> Value {
        match self.style {
            DialectStyle::OpenAi | DialectStyle::OpenResponses => response,
            DialectStyle::Wave if has_ended => {
                pick(&response, &["incomplete_details", "usage", "service_tier"])
            }
            DialectStyle::Wave => pick(&response, &["id", "created_at", "model", "service_tier"]),
            DialectStyle::Aitronos => {
                if text(&response, "status") == Some("incomplete") {
                    response["status"] = json!("completed");
                }
                pick(&response, &["id", "status"])
            }
            DialectStyle::Vllm(_) => pick(&response, &["id", "status", "output"]),
            DialectStyle::EuGpt if has_ended => {
                let calls: Vec<Value> =
                    (output.iter().filter(|item| text(item, "type") == Some("function_call")))
                        .map(|item| pick(item, &["name", "call_id", "status"]))
                        .collect();
                // This dialect has no incomplete responses.
                response["status"] = json!("completed");
                let mut response = pick(&response, &["id", "status", "model"]);
                response["output_text"] = json!("");
                if !calls.is_empty() {
                    response["tool_calls"] = json!(calls);
                }
                response
            }
            DialectStyle::EuGpt => {
                response["created_at"] = json!(CREATED * 1000);
                pick(&response, &["id", "object", "created_at", "model", "status"])
            }
        }
    }
}

/// Returns a setting of the request, or its default.
fn requested(request: &Value, name: &str, usual: Value) -> Value {
    request.get(name).filter(|value| !value.is_null()).cloned().unwrap_or(usual)
}

fn openai(request: &Value) -> Value {
    let or = |name: &str, usual: Value| requested(request, name, usual);
    let mut words = or("text", json!({}));
    if words.get("format").is_none_or(Value::is_null) {
        words["format"] = json!({"type": "text"});
    }
    if words.get("verbosity").is_none_or(Value::is_null) {
        words["verbosity"] = json!("medium");
    }
    let mut tools = or("tools", json!([]));
    for tool in tools.as_array_mut().into_iter().flatten() {
        if text(tool, "type") == Some("function") {
            complete(tool, &["parameters"]);
            if tool.get("strict").is_none_or(Value::is_null) {
                tool["strict"] = json!(true);
            }
        }
    }
    let mut reasoning = json!({"effort": null, "summary": null});
    merge(&mut reasoning, request.get("reasoning"));
    json!({
        "id": "", "object": "response", "created_at": CREATED, "status": "",
        "background": or("background", json!(false)), "completed_at": null, "error": null,
        "frequency_penalty": or("frequency_penalty", json!(0.0)), "incomplete_details": null,
        "instructions": or("instructions", Value::Null), "max_output_tokens": or("max_output_tokens", Value::Null),
        "max_tool_calls": or("max_tool_calls", Value::Null), "model": or("model", json!("reference-1")), "output": [],
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "presence_penalty": or("presence_penalty", json!(0.0)),
        "previous_response_id": or("previous_response_id", Value::Null),
        "prompt_cache_key": or("prompt_cache_key", Value::Null),
        "prompt_cache_retention": or("prompt_cache_retention", json!("in_memory")), "reasoning": reasoning,
        "safety_identifier": or("safety_identifier", Value::Null), "service_tier": "auto", "store": or("store", json!(true)),
        "temperature": or("temperature", json!(1.0)), "text": words, "tool_choice": or("tool_choice", json!("auto")),
        "tools": tools, "top_logprobs": or("top_logprobs", json!(0)), "top_p": or("top_p", json!(1.0)),
        "truncation": or("truncation", json!("disabled")), "usage": null, "user": or("user", Value::Null),
        "metadata": or("metadata", json!({}))
    })
}

fn open_responses(request: &Value, style: DialectStyle) -> Value {
    let or = |name: &str, usual: Value| requested(request, name, usual);
    let mut tools = or("tools", json!([]));
    if let Some(tools) = tools.as_array_mut() {
        tools.retain(|tool| style.knows_tool(text(tool, "type").unwrap_or_default()));
        for tool in tools {
            complete(tool, &["description", "parameters", "strict"]);
        }
    }
    let mut words = or("text", json!({}));
    match words.get_mut("format").filter(|format| !format.is_null()) {
        None => words["format"] = json!({"type": "text"}),
        Some(format) if text(format, "type") == Some("json_schema") => {
            complete(format, &["description"]);
            if format.get("strict").is_none_or(Value::is_null) {
                format["strict"] = json!(false);
            }
        }
        Some(_) => {}
    }
    let mut reasoning = or("reasoning", Value::Null);
    if reasoning.is_object() {
        complete(&mut reasoning, &["effort", "summary"]);
    }
    json!({
        "id": "", "object": "response", "created_at": CREATED, "completed_at": null, "status": "",
        "incomplete_details": null, "model": or("model", json!("reference-1")),
        "previous_response_id": or("previous_response_id", Value::Null), "instructions": or("instructions", Value::Null),
        "output": [], "error": null, "tools": tools, "tool_choice": or("tool_choice", json!("auto")),
        "truncation": or("truncation", json!("disabled")), "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "text": words, "top_p": or("top_p", json!(1.0)), "presence_penalty": or("presence_penalty", json!(0.0)),
        "frequency_penalty": or("frequency_penalty", json!(0.0)), "top_logprobs": or("top_logprobs", json!(0)),
        "temperature": or("temperature", json!(1.0)), "reasoning": reasoning, "usage": null,
        "max_output_tokens": or("max_output_tokens", Value::Null), "max_tool_calls": or("max_tool_calls", Value::Null),
        "store": or("store", json!(true)), "background": or("background", json!(false)), "service_tier": "default",
        "metadata": or("metadata", json!({})), "safety_identifier": or("safety_identifier", Value::Null),
        "prompt_cache_key": or("prompt_cache_key", Value::Null)
    })
}

/// Adds missing members as null.
fn complete(object: &mut Value, names: &[&str]) {
    if let Some(members) = object.as_object_mut() {
        for name in names {
            members.entry(*name).or_insert(Value::Null);
        }
    }
}

fn merge(object: &mut Value, other: Option<&Value>) {
    let Some(other) = other.and_then(Value::as_object) else { return };
    let members: Map<String, Value> = other.clone();
    if let Some(object) = object.as_object_mut() {
        object.extend(members);
    }
}
