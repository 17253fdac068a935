//! Requests of Chat Completions.

use serde_json::{Map, Value, json};

use super::parts::{
    call, described, object, objects, some_text, stops, system_texts, text, text_or_parts, usual_schema,
};
use super::{Reader, Writer};
use crate::question::{Choice, Format, Output, Part, Question, Reasoning, Role, Turn};

/// Maximum number of stops in a request.
const MOST_STOPS: usize = 4;

pub(super) fn read(reader: &mut Reader, request: &Map<String, Value>) {
    // The newer member wins.
    let limit = ["max_completion_tokens", "max_tokens"].map(|name| request.get(name).and_then(Value::as_u64));
    reader.question.limit = limit.into_iter().flatten().next();
    for (name, value) in request.iter().filter(|(_, value)| !value.is_null()) {
        if reader.shared(name, value) {
            continue;
        }
        match name.as_str() {
            "messages" => objects(value).for_each(|message| read_message(reader, message)),
            "tools" => objects(value).for_each(|tool| read_tool(reader, tool)),
            "functions" => objects(value).for_each(|tool| reader.tool(tool, "parameters")),
            "tool_choice" | "function_call" => read_choice(reader, value),
            "max_completion_tokens" | "max_tokens" => {}
            "stop" => {
                let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                reader.question.stops = stops(list);
            }
            // One choice is what every API gives.
            "n" => reader.question.choices = value.as_u64().filter(|number| *number != 1),
            "reasoning_effort" => reader.question.effort = value.as_str().map(str::to_owned),
            // The form of OpenRouter.
            "reasoning" if value.get("effort").is_some() => {
                reader.question.effort = some_text(&object(value), "effort");
                reader.unread("reasoning", &object(value), &["effort", "enabled", "exclude"]);
            }
            "response_format" => read_format(reader, value),
            _ => reader.rest(name, value),
        }
    }
}

fn read_message(reader: &mut Reader, message: &Map<String, Value>) {
    let content = message.get("content").unwrap_or(&Value::Null);
    let id = |name| text(message, name).to_owned();
    match text(message, "role") {
        "system" | "developer" => reader.instructions(content),
        "user" => reader.content(Role::User, content),
        "assistant" => return read_assistant(reader, message, content),
        // A function of old has no id but its name.
        role @ ("tool" | "function") => {
            let id = if role == "tool" { id("tool_call_id") } else { id("name") };
            let text = reader.output(Some(content));
            reader.turns.push(Role::User, Part::Result(Output { id, text, is_error: false }));
            return reader.unread("messages", message, &["role", "content", "tool_call_id", "name"]);
        }
        role => reader.inner("messages", role),
    }
    reader.unread("messages", message, &["role", "content"]);
}

fn read_assistant(reader: &mut Reader, message: &Map<String, Value>, content: &Value) {
    let reasoning = ["reasoning_content", "reasoning"].map(|name| text(message, name));
    if let Some(text) = reasoning.into_iter().find(|text| !text.is_empty()) {
        let reasoning = Reasoning { text: text.to_owned(), ..Reasoning::default() };
        reader.turns.push(Role::Assistant, Part::Reasoning(reasoning));
    }
    reader.content(Role::Assistant, content);
    reader.turns.push(Role::Assistant, Part::Refusal(text(message, "refusal").to_owned()));
    for tool_call in message.get("tool_calls").into_iter().flat_map(objects) {
        let id = text(tool_call, "id");
        let part = if let Some(custom) = tool_call.get("custom").and_then(Value::as_object) {
            reader.inner("messages", "custom");
            call(id, text(custom, "name"), custom.get("input"))
        } else {
            let function = tool_call.get("function").and_then(Value::as_object).unwrap_or(tool_call);
            call(id, text(function, "name"), function.get("arguments"))
        };
        reader.turns.push(Role::Assistant, part);
    }
    if let Some(function) = message.get("function_call").and_then(Value::as_object) {
        let name = text(function, "name");
        reader.turns.push(Role::Assistant, call(name, name, function.get("arguments")));
    }
    let read =
        ["role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning"];
    reader.unread("messages", message, &read);
}

fn read_tool(reader: &mut Reader, tool: &Map<String, Value>) {
    match text(tool, "type") {
        "function" | "" => {
            let function = tool.get("function").and_then(Value::as_object).unwrap_or(tool);
            reader.tool(function, "parameters");
        }
        kind => reader.inner("tools", super::members::undated(kind)),
    }
}

fn read_choice(reader: &mut Reader, choice: &Value) {
    if let Some(word) = choice.as_str() {
        if !reader.choice(word) {
            reader.other("tool_choice");
        }
        return;
    }
    let function = choice.get("function").unwrap_or(choice);
    if let Some(name) = function.get("name").and_then(Value::as_str) {
        reader.question.choice = Choice::One(name.to_owned());
        return;
    }
    let allowed = choice.get("allowed_tools").and_then(|allowed| allowed.get("mode"));
    reader.choice(allowed.and_then(Value::as_str).unwrap_or_default());
    reader.other("tool_choice");
}

fn read_format(reader: &mut Reader, format: &Value) {
    let format = object(format);
    let of = format.get("json_schema").and_then(Value::as_object).unwrap_or(&format);
    reader.format(text(&format, "type"), of);
}

pub(super) fn write(writer: &mut Writer, question: &Question) {
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(question.instructions.iter().map(|text| json!({"role": "system", "content": text})));
    for turn in question.usual_turns() {
        match turn.role {
            Role::User => write_user(writer, &turn, &mut messages),
            Role::Assistant => messages.extend(assistant(writer, &turn)),
            Role::System => {
                messages.extend(system_texts(&turn).map(|text| json!({"role": "system", "content": text})));
            }
        }
    }
    if messages.is_empty() {
        messages.push(json!({"role": "user", "content": ""}));
    }
    writer.shared(question);
    writer.set("messages", messages);
    if question.is_stream {
        writer.set("stream_options", json!({"include_usage": true}));
    }
    writer.set_some("max_completion_tokens", question.limit);
    writer.set_some("n", Writer::choices(question));
    let effort = writer.effort(question);
    writer.set_some("reasoning_effort", effort);
    writer.lose_if(question.stops.len() > MOST_STOPS, "stops");
    if !question.stops.is_empty() {
        writer.set("stop", question.stops.iter().take(MOST_STOPS).cloned().collect::<Vec<_>>());
    }
    if writer.tools(question, |tool, parameters| {
        let function = described(tool, json!({"name": tool.name, "parameters": parameters}));
        json!({"type": "function", "function": function})
    }) {
        writer.choice(question, |name| json!({"type": "function", "function": {"name": name}}));
    }
    match &question.format {
        Format::Text => {}
        Format::Object => writer.set("response_format", json!({"type": "json_object"})),
        Format::Schema { name, schema } => {
            let name = writer.format_name(name);
            let schema = json!({"name": name, "schema": usual_schema(schema), "strict": true});
            writer.set("response_format", json!({"type": "json_schema", "json_schema": schema}));
        }
    }
}

/// The outputs of tools come first, as they must follow the calls.
fn write_user(writer: &mut Writer, turn: &Turn, messages: &mut Vec<Value>) {
    let mut content = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Result(output) => {
                writer.lose_if(!content.is_empty(), "order");
                writer.lose_if(output.is_error, "result.is_error");
                messages.push(json!({"role": "tool", "tool_call_id": output.id, "content": output.text}));
            }
            Part::Text(text) => content.push(json!({"type": "text", "text": text})),
            Part::Image(image) if image.is_there() => {
                content.push(json!({"type": "image_url", "image_url": {"url": image.address()}}));
            }
            Part::Image(_) => writer.lose("images"),
            Part::Refusal(text) => {
                writer.lose("refusal");
                content.push(json!({"type": "text", "text": text}));
            }
            Part::Reasoning(_) | Part::Call(_) => {}
        }
    }
    if !content.is_empty() {
        messages.push(json!({"role": "user", "content": text_or_parts(content)}));
    }
}

/// `None` if nothing is left. Reasoning, content and calls come in this order.
fn assistant(writer: &mut Writer, turn: &Turn) -> Option<Value> {
    let (mut reasoning, mut content, mut calls) = (String::new(), Vec::new(), Vec::new());
    for part in &turn.parts {
        match part {
            Part::Reasoning(part) => {
                writer.lose_seal(part);
                writer.lose_if(!content.is_empty() || !calls.is_empty() || !reasoning.is_empty(), "order");
                reasoning.push_str(&part.text);
            }
            Part::Text(text) => {
                writer.lose_if(!calls.is_empty(), "order");
                content.push(json!({"type": "text", "text": text}));
            }
            Part::Refusal(text) => {
                writer.lose_if(!calls.is_empty(), "order");
                content.push(json!({"type": "refusal", "refusal": text}));
            }
            Part::Call(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            })),
            Part::Image(_) => writer.lose("images"),
            Part::Result(_) => {}
        }
    }
    if reasoning.is_empty() && content.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message
        .insert("content".to_owned(), if content.is_empty() { Value::Null } else { text_or_parts(content) });
    if !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), json!(calls));
    }
    Some(Value::Object(message))
}
