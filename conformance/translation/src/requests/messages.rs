//! Requests of Messages.

use serde_json::{Map, Value, json};

use super::members::{content_name, undated};
use super::parts::{
    EFFORTS, budget_of, call, described, effort_of, object, objects, some_text, stops, text, text_or_parts,
    usual_schema,
};
use super::{Reader, USUAL_LIMIT, Writer};
use crate::question::{Choice, Format, Image, Output, Part, Question, Reasoning, Role, Turn};

/// The media types of images as bytes.
const MEDIA_TYPES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// How a block of `system` begins that a client writes for Anthropic's servers alone. They take it out of the prompt.
const ATTRIBUTION: &str = "x-anthropic-billing-header";

/// The highest temperature of a request.
const HIGHEST_TEMPERATURE: f64 = 1.0;

pub(super) fn read(reader: &mut Reader, request: &Map<String, Value>) {
    // These come before instructions in the conversation, in whatever order the members stand.
    match request.get("system") {
        Some(Value::Array(blocks)) => {
            let is_attribution =
                |block: &Value| block.get("text").and_then(Value::as_str).is_some_and(is_attribution);
            let own = blocks.iter().filter(|block| !is_attribution(block));
            reader.instructions(&own.cloned().collect());
        }
        Some(system) => reader.instructions(system),
        None => {}
    }
    for (name, value) in request.iter().filter(|(_, value)| !value.is_null()) {
        let question = &mut reader.question;
        match name.as_str() {
            "system" | "thinking" => {}
            "model" => value.as_str().unwrap_or_default().clone_into(&mut question.model),
            "max_tokens" => question.limit = value.as_u64(),
            "temperature" => question.temperature = value.as_f64(),
            "top_p" => question.top_p = value.as_f64(),
            "stream" => question.is_stream = value.as_bool().unwrap_or_default(),
            "stop_sequences" => question.stops = stops(value.as_array().into_iter().flatten()),
            "messages" => objects(value).for_each(|message| read_message(reader, message)),
            "tools" => objects(value).for_each(|tool| match text(tool, "type") {
                "" | "custom" => reader.tool(tool, "input_schema"),
                kind => reader.inner("tools", undated(kind)),
            }),
            "tool_choice" => read_choice(reader, &object(value)),
            "output_config" => read_output(reader, &object(value)),
            "output_format" => reader.format(text(&object(value), "type"), &object(value)),
            "metadata" => question.user = some_text(&object(value), "user_id"),
            _ => reader.rest(name, value),
        }
    }
    if let Some(thinking) = request.get("thinking").and_then(Value::as_object) {
        read_thinking(reader, thinking);
    }
}

/// One that was merged with other text is none.
fn is_attribution(text: &str) -> bool {
    text.starts_with(ATTRIBUTION) && !text.trim_end().contains('\n')
}

fn read_message(reader: &mut Reader, message: &Map<String, Value>) {
    let content = message.get("content").unwrap_or(&Value::Null);
    let role = match text(message, "role") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => return reader.instructions(content),
        role => return reader.inner("messages", role),
    };
    if let Some(text) = content.as_str() {
        reader.turns.push(role, Part::Text(text.to_owned()));
    }
    objects(content).for_each(|block| read_block(reader, role, block));
    reader.unread("messages", message, &["role", "content"]);
}

fn read_block(reader: &mut Reader, role: Role, block: &Map<String, Value>) {
    let member = |name| text(block, name).to_owned();
    let part = match text(block, "type") {
        "text" => Part::Text(member("text")),
        "image" => match block.get("source").and_then(Value::as_object).and_then(image) {
            Some(image) => Part::Image(image),
            None => return reader.inner("image", "file_id"),
        },
        "thinking" => Part::Reasoning(Reasoning {
            text: member("thinking"),
            seal: some_text(block, "signature").filter(|seal| !seal.is_empty()),
            ..Reasoning::default()
        }),
        "redacted_thinking" => Part::Reasoning(Reasoning {
            seal: Some(member("data")),
            is_redacted: true,
            ..Reasoning::default()
        }),
        "tool_use" => call(text(block, "id"), text(block, "name"), block.get("input")),
        "tool_result" => {
            let is_error = block.get("is_error") == Some(&Value::Bool(true));
            let text = reader.output(block.get("content"));
            Part::Result(Output { id: member("tool_use_id"), text, is_error })
        }
        kind => return reader.inner("content", content_name(kind)),
    };
    reader.turns.push(role, part);
}

/// Files are no images.
fn image(source: &Map<String, Value>) -> Option<Image> {
    match text(source, "type") {
        "url" => some_text(source, "url").map(|url| Image::read(&url)),
        "base64" => {
            let media_type = source.get("media_type").and_then(Value::as_str);
            Some(Image::of_bytes(media_type, source.get("data")?.as_str()?))
        }
        _ => None,
    }
}

fn read_choice(reader: &mut Reader, choice: &Map<String, Value>) {
    match text(choice, "type") {
        "tool" => reader.question.choice = Choice::One(text(choice, "name").to_owned()),
        kind => {
            if !reader.choice(kind) {
                reader.other("tool_choice");
            }
        }
    }
    reader.question.is_one_call = choice.get("disable_parallel_tool_use") == Some(&Value::Bool(true));
}

fn read_thinking(reader: &mut Reader, thinking: &Map<String, Value>) {
    let effort = match text(thinking, "type") {
        "disabled" => "none",
        "enabled" => {
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or_default();
            effort_of(budget)
        }
        // The documented default of `output_config.effort`.
        "adaptive" => "high",
        kind => return reader.inner("thinking", kind),
    };
    // An effort in words is more exact than a budget. Without reasoning, it is about the rest of the output.
    let known = reader.question.effort.take().filter(|_| effort != "none");
    reader.question.effort = Some(known.unwrap_or_else(|| effort.to_owned()));
}

fn read_output(reader: &mut Reader, config: &Map<String, Value>) {
    if let Some(effort) = some_text(config, "effort") {
        reader.question.effort = Some(effort);
    }
    if let Some(format) = config.get("format").and_then(Value::as_object) {
        reader.format(text(format, "type"), format);
    }
    reader.unread("output_config", config, &["effort", "format"]);
}

pub(super) fn write(writer: &mut Writer, question: &Question) {
    writer.set("model", question.model.as_str());
    match question.instructions.as_slice() {
        [] => {}
        [only] => writer.set("system", only.as_str()),
        several => {
            let blocks = several.iter().map(|text| json!({"type": "text", "text": text}));
            writer.set("system", blocks.collect::<Vec<_>>());
        }
    }
    write_messages(writer, question);
    writer.set("stream", question.is_stream);
    if let Some(temperature) = question.temperature {
        writer.lose_if(temperature > HIGHEST_TEMPERATURE, "temperature");
        writer.set("temperature", temperature.min(HIGHEST_TEMPERATURE));
    }
    writer.set_some("top_p", question.top_p);
    writer.set_some("metadata", question.user.as_deref().map(|user| json!({"user_id": user})));
    writer.lose_if(Writer::choices(question).is_some(), "choices");
    writer.lose_if(question.cache_key.is_some(), "cache_key");
    if !question.stops.is_empty() {
        writer.set("stop_sequences", question.stops.clone());
    }
    write_tools(writer, question);
    write_effort(writer, question);
    match &question.format {
        Format::Text => {}
        Format::Object => writer.lose("format"),
        Format::Schema { name, schema } => {
            writer.lose_if(!name.is_empty(), "format.name");
            let format = json!({"type": "json_schema", "schema": usual_schema(schema)});
            let config = writer.body.entry("output_config").or_insert_with(|| json!({}));
            config["format"] = format;
        }
    }
}

fn write_messages(writer: &mut Writer, question: &Question) {
    let mut messages: Vec<(Role, Vec<Value>)> = Vec::new();
    for turn in question.usual_turns() {
        let blocks = blocks(writer, &turn);
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            // Nothing between them was kept.
            Some((role, before)) if *role == turn.role => before.extend(blocks),
            _ => messages.push((turn.role, blocks)),
        }
    }
    let messages = messages.into_iter().map(|(role, blocks)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        json!({"role": role, "content": text_or_parts(blocks)})
    });
    writer.set("messages", messages.collect::<Vec<_>>());
}

/// The outputs of tools come first, as they must follow the calls.
fn blocks(writer: &mut Writer, turn: &Turn) -> Vec<Value> {
    let (mut results, mut blocks) = (Vec::new(), Vec::new());
    for part in &turn.parts {
        let block = match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Refusal(text) => {
                writer.lose("refusal");
                json!({"type": "text", "text": text})
            }
            Part::Image(image) => {
                let Some(source) = source(image).filter(|_| turn.role == Role::User) else {
                    writer.lose("images");
                    continue;
                };
                json!({"type": "image", "source": source})
            }
            Part::Reasoning(reasoning) => match thinking(writer, reasoning) {
                Some(block) => block,
                None => continue,
            },
            Part::Call(call) => json!({
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": input(writer, &call.arguments),
            }),
            Part::Result(output) => {
                writer.lose_if(!blocks.is_empty(), "order");
                let mut block =
                    json!({"type": "tool_result", "tool_use_id": output.id, "content": output.text});
                if output.is_error {
                    block["is_error"] = json!(true);
                }
                results.push(block);
                continue;
            }
        };
        blocks.push(block);
    }
    results.extend(blocks);
    results
}

fn source(image: &Image) -> Option<Value> {
    match (&image.data, image.media_type.as_deref()) {
        (Some(data), Some(media_type)) if MEDIA_TYPES.contains(&media_type) => {
            Some(json!({"type": "base64", "media_type": media_type, "data": data}))
        }
        (Some(_), _) => None,
        (None, _) => image.url.as_ref().map(|url| json!({"type": "url", "url": url})),
    }
}

/// Reasoning without a signature is refused.
fn thinking(writer: &mut Writer, reasoning: &Reasoning) -> Option<Value> {
    writer.lose_if(reasoning.id.is_some(), "reasoning.id");
    let Some(seal) = &reasoning.seal else {
        writer.lose_if(!reasoning.text.is_empty(), "reasoning");
        return None;
    };
    if reasoning.is_redacted {
        return Some(json!({"type": "redacted_thinking", "data": seal}));
    }
    Some(json!({"type": "thinking", "thinking": reasoning.text, "signature": seal}))
}

fn input(writer: &mut Writer, arguments: &str) -> Value {
    let input = serde_json::from_str(arguments).ok().filter(Value::is_object);
    writer.lose_if(input.is_none(), "arguments");
    input.unwrap_or_else(|| json!({}))
}

fn write_tools(writer: &mut Writer, question: &Question) {
    if !writer.tools(question, |tool, parameters| {
        described(tool, json!({"name": tool.name, "input_schema": parameters}))
    }) {
        return;
    }
    let choice = match &question.choice {
        Choice::Free if !question.is_one_call => return,
        Choice::Free => json!({"type": "auto"}),
        Choice::Any => json!({"type": "any"}),
        Choice::One(name) => json!({"type": "tool", "name": name}),
        // Without a call there is no second one.
        Choice::None => {
            writer.lose_if(question.is_one_call, "is_one_call");
            return writer.set("tool_choice", json!({"type": "none"}));
        }
    };
    writer.set("tool_choice", choice);
    if question.is_one_call
        && let Some(choice) = writer.body.get_mut("tool_choice")
    {
        choice["disable_parallel_tool_use"] = json!(true);
    }
}

/// An effort is a budget of reasoning if the limit is above it, and a word otherwise.
fn write_effort(writer: &mut Writer, question: &Question) {
    writer.lose_if(question.limit.is_none(), "limit");
    let wanted = question.effort.as_deref();
    // The least effort that there is stands for one that is less.
    let effort = if wanted == Some("minimal") { Some("low") } else { wanted };
    let budget = effort.and_then(budget_of);
    let limit = question.limit.unwrap_or_else(|| USUAL_LIMIT + budget.unwrap_or_default());
    let is_written = match (effort, budget.filter(|budget| *budget < limit)) {
        (Some("none"), _) => {
            writer.set("thinking", json!({"type": "disabled"}));
            true
        }
        (_, Some(budget)) => {
            writer.set("thinking", json!({"type": "enabled", "budget_tokens": budget}));
            true
        }
        (Some(effort), None) if EFFORTS.contains(&effort) => {
            writer.set("thinking", json!({"type": "adaptive"}));
            writer.set("output_config", json!({"effort": effort}));
            true
        }
        _ => false,
    };
    writer.lose_if(wanted.is_some() && (!is_written || effort != wanted), "effort");
    writer.set("max_tokens", limit);
}
