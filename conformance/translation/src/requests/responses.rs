//! Requests of the Responses API.

use serde_json::{Map, Value, json};

use super::members::{content_name, undated};
use super::parts::{
    call, described, object, objects, some_text, system_texts, text, text_or_parts, usual_schema,
};
use super::{Reader, Writer};
use crate::question::{Choice, Format, Output, Part, Question, Reasoning, Role};

/// The least number of output tokens that a request can ask for.
const LEAST_LIMIT: u64 = 16;

/// Requests include it so that reasoning can be sent back.
const ENCRYPTED: &str = "reasoning.encrypted_content";

pub(super) fn read(reader: &mut Reader, request: &Map<String, Value>) {
    // Instructions come before those in the input, in whatever order the members stand.
    if let Some(instructions) = request.get("instructions") {
        reader.instructions(instructions);
    }
    for (name, value) in request.iter().filter(|(_, value)| !value.is_null()) {
        if reader.shared(name, value) {
            continue;
        }
        match name.as_str() {
            "instructions" => {}
            "input" => match value {
                Value::String(_) => reader.content(Role::User, value),
                _ => objects(value).for_each(|item| read_item(reader, item)),
            },
            "tools" => objects(value).for_each(|tool| match text(tool, "type") {
                "function" => reader.tool(tool, "parameters"),
                kind => reader.inner("tools", undated(kind)),
            }),
            "tool_choice" => read_choice(reader, value),
            "max_output_tokens" => reader.question.limit = value.as_u64(),
            "reasoning" => read_reasoning(reader, &object(value)),
            "text" => read_text(reader, &object(value)),
            "include" => read_include(reader, value),
            _ => reader.rest(name, value),
        }
    }
}

fn read_item(reader: &mut Reader, item: &Map<String, Value>) {
    let kind = text(item, "type");
    match kind {
        "message" | "" => {
            let content = item.get("content").unwrap_or(&Value::Null);
            match text(item, "role") {
                "system" | "developer" => reader.instructions(content),
                "user" => reader.content(Role::User, content),
                "assistant" => reader.content(Role::Assistant, content),
                role => reader.inner("messages", role),
            }
            reader.unread("messages", item, &["role", "content"]);
        }
        "function_call" => {
            let part = call(text(item, "call_id"), text(item, "name"), item.get("arguments"));
            reader.turns.push(Role::Assistant, part);
            reader.unread("messages", item, &["call_id", "name", "arguments"]);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let text_of_output = reader.output(item.get("output"));
            let output =
                Output { id: text(item, "call_id").to_owned(), text: text_of_output, is_error: false };
            reader.turns.push(Role::User, Part::Result(output));
        }
        // Their input is a text, and their tools have no counterpart.
        "custom_tool_call" => {
            let part = call(text(item, "call_id"), text(item, "name"), item.get("input"));
            reader.turns.push(Role::Assistant, part);
            reader.inner("messages", "custom");
        }
        "reasoning" => {
            if let Some(reasoning) = reasoning(item) {
                reader.turns.push(Role::Assistant, Part::Reasoning(reasoning));
            }
        }
        _ => reader.inner("input", content_name(kind)),
    }
}

fn reasoning(item: &Map<String, Value>) -> Option<Reasoning> {
    let texts = |name| {
        let parts = item.get(name).into_iter().flat_map(objects);
        parts.map(|part| text(part, "text")).collect::<Vec<_>>().concat()
    };
    let all = texts("summary") + &texts("content");
    let seal = some_text(item, "encrypted_content").filter(|seal| !seal.is_empty());
    let is_redacted = all.is_empty() && seal.is_some();
    let reasoning = Reasoning { id: some_text(item, "id"), text: all, seal, is_redacted };
    (reasoning != Reasoning::default()).then_some(reasoning)
}

fn read_choice(reader: &mut Reader, choice: &Value) {
    if let Some(word) = choice.as_str() {
        if !reader.choice(word) {
            reader.other("tool_choice");
        }
        return;
    }
    let choice = object(choice);
    let nested = choice.get("function").and_then(Value::as_object).unwrap_or(&choice);
    if text(&choice, "type") == "function" {
        reader.question.choice = Choice::One(text(nested, "name").to_owned());
    } else {
        reader.choice(text(&choice, "mode"));
        reader.other("tool_choice");
    }
}

fn read_include(reader: &mut Reader, include: &Value) {
    for include in include.as_array().into_iter().flatten() {
        match include.as_str() {
            Some(ENCRYPTED) => {}
            // Chat Completions has a member for it.
            Some("message.output_text.logprobs") => reader.other("logprobs"),
            _ => reader.other("include"),
        }
    }
}

fn read_reasoning(reader: &mut Reader, reasoning: &Map<String, Value>) {
    reader.question.effort = some_text(reasoning, "effort");
    // A summary makes reasoning visible, and does not change it.
    reader.unread("reasoning", reasoning, &["effort", "summary", "generate_summary"]);
}

fn read_text(reader: &mut Reader, shape: &Map<String, Value>) {
    if let Some(format) = shape.get("format").and_then(Value::as_object) {
        reader.format(text(format, "type"), format);
    }
    for (name, value) in shape.iter().filter(|(name, _)| *name != "format") {
        reader.rest(name, value);
    }
}

pub(super) fn write(writer: &mut Writer, question: &Question) {
    let mut input = Vec::new();
    writer.shared(question);
    // There is one text of instructions; the others come as messages, first of all.
    writer.set_some("instructions", question.instructions.first().map(String::as_str));
    for text in question.instructions.iter().skip(1) {
        input.push(json!({"type": "message", "role": "developer", "content": text}));
    }
    for turn in question.usual_turns() {
        match turn.role {
            Role::User => write_user(writer, &turn.parts, &mut input),
            Role::Assistant => {
                for part in &turn.parts {
                    write_assistant(writer, part, &mut input);
                }
            }
            Role::System => input.extend(
                system_texts(&turn).map(|text| json!({"type": "message", "role": "system", "content": text})),
            ),
        }
    }
    writer.set("input", input);
    writer.set("store", false);
    writer.lose_if(!question.stops.is_empty(), "stops");
    writer.lose_if(Writer::choices(question).is_some(), "choices");
    writer.lose_if(question.limit.is_some_and(|limit| limit < LEAST_LIMIT), "limit");
    writer.set_some("max_output_tokens", question.limit.map(|limit| limit.max(LEAST_LIMIT)));
    match writer.effort(question) {
        None => {}
        Some("none") => writer.set("reasoning", json!({"effort": "none"})),
        Some(effort) => {
            writer.set("reasoning", json!({"effort": effort, "summary": "auto"}));
            writer.set("include", json!([ENCRYPTED]));
        }
    }
    if writer.tools(question, |tool, parameters| {
        let function =
            json!({"type": "function", "name": tool.name, "parameters": parameters, "strict": false});
        described(tool, function)
    }) {
        writer.choice(question, |name| json!({"type": "function", "name": name}));
    }
    match &question.format {
        Format::Text => {}
        Format::Object => writer.set("text", json!({"format": {"type": "json_object"}})),
        Format::Schema { name, schema } => {
            let name = writer.format_name(name);
            let schema = usual_schema(schema);
            let format = json!({"type": "json_schema", "name": name, "schema": schema, "strict": true});
            writer.set("text", json!({"format": format}));
        }
    }
}

/// The turn has messages between outputs of tools.
fn write_user(writer: &mut Writer, parts: &[Part], input: &mut Vec<Value>) {
    let mut content = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => content.push(json!({"type": "input_text", "text": text})),
            Part::Image(image) if image.is_there() => {
                let address = image.address();
                content.push(json!({"type": "input_image", "image_url": address, "detail": "auto"}));
            }
            Part::Image(_) => writer.lose("images"),
            Part::Refusal(text) => {
                writer.lose("refusal");
                content.push(json!({"type": "input_text", "text": text}));
            }
            Part::Result(output) => {
                input.extend(user_message(&mut content));
                writer.lose_if(output.is_error, "result.is_error");
                let mut item = json!({"type": "function_call_output", "output": output.text});
                // The schema has no empty id.
                if !output.id.is_empty() {
                    item["call_id"] = json!(output.id);
                }
                input.push(item);
            }
            Part::Call(_) | Part::Reasoning(_) => {}
        }
    }
    input.extend(user_message(&mut content));
}

fn user_message(content: &mut Vec<Value>) -> Option<Value> {
    let parts = std::mem::take(content);
    let message = |parts| json!({"type": "message", "role": "user", "content": text_or_parts(parts)});
    (!parts.is_empty()).then(|| message(parts))
}

/// Each part is an item.
fn write_assistant(writer: &mut Writer, part: &Part, input: &mut Vec<Value>) {
    let number = input.len();
    let item = match part {
        Part::Text(text) => json!({"type": "message", "role": "assistant", "content": text}),
        Part::Refusal(refusal) => json!({
            "type": "message",
            "id": format!("msg_{number}"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "refusal", "refusal": refusal}],
        }),
        Part::Call(call) => json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }),
        Part::Reasoning(reasoning) => {
            writer.lose_if(reasoning.id.is_none(), "reasoning.id");
            let is_redacted = reasoning.text.is_empty() && reasoning.seal.is_some();
            writer.lose_if(reasoning.is_redacted != is_redacted, "reasoning.is_redacted");
            let id = reasoning.id.clone().unwrap_or_else(|| format!("rs_{number}"));
            let text = Some(&reasoning.text).filter(|text| !text.is_empty());
            let summary: Vec<Value> =
                text.map(|text| json!({"type": "summary_text", "text": text})).into_iter().collect();
            let mut item = json!({"type": "reasoning", "id": id, "summary": summary});
            if let Some(seal) = &reasoning.seal {
                item["encrypted_content"] = json!(seal);
            }
            item
        }
        Part::Image(_) => return writer.lose("images"),
        Part::Result(_) => return,
    };
    input.push(item);
}
