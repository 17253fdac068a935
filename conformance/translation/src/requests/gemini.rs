//! Requests of generateContent, with the model and `stream` from their path.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::parts::{
    budget_of, described, effort_of, lower_types, object, objects, some_text, stops, text, usual_schema,
};
use super::{Reader, Writer};
use crate::question::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Turn};

pub(super) fn read(reader: &mut Reader, request: &Map<String, Value>) {
    // They often follow the conversation.
    if let Some(instruction) = request.get("systemInstruction") {
        reader.instructions(instruction.get("parts").unwrap_or(&Value::Null));
    }
    for (name, value) in request.iter().filter(|(_, value)| !value.is_null()) {
        let question = &mut reader.question;
        match name.as_str() {
            "model" => value.as_str().unwrap_or_default().clone_into(&mut question.model),
            "stream" => question.is_stream = value.as_bool().unwrap_or_default(),
            "systemInstruction" => {}
            "contents" => read_contents(reader, value),
            "tools" => objects(value).for_each(|tool| read_tools(reader, tool)),
            "toolConfig" => read_choice(reader, &object(value)),
            "generationConfig" => read_config(reader, &object(value)),
            _ => reader.rest(name, value),
        }
    }
}

fn read_contents(reader: &mut Reader, contents: &Value) {
    let mut calls = Calls::default();
    for content in objects(contents) {
        let role = if text(content, "role") == "model" { Role::Assistant } else { Role::User };
        for part in objects(content.get("parts").unwrap_or(&Value::Null)) {
            read_part(reader, role, part, &mut calls);
        }
    }
}

/// How ids begin of calls that have none. Their order tells them apart.
pub const NO_ID: &str = "call_without_id_";

/// The calls without a result: older ones have no id, and their results name the function.
#[derive(Default)]
struct Calls {
    open: Vec<(String, String)>,
    count: usize,
}

impl Calls {
    fn called(&mut self, id: Option<String>, name: &str) -> String {
        self.count += 1;
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{NO_ID}{}", self.count));
        self.open.push((id.clone(), name.to_owned()));
        id
    }

    fn answered(&mut self, id: Option<String>, name: &str) -> String {
        let is_it = |known: &(String, String)| match &id {
            Some(id) => known.0 == *id,
            None => known.1 == name,
        };
        match self.open.iter().position(is_it) {
            Some(at) => self.open.remove(at).0,
            None => id.unwrap_or_else(|| name.to_owned()),
        }
    }
}

fn read_part(reader: &mut Reader, role: Role, part: &Map<String, Value>, calls: &mut Calls) {
    let inner = |name| part.get(name).and_then(Value::as_object);
    let said = text(part, "text").to_owned();
    if part.get("thought") == Some(&Value::Bool(true)) {
        let reasoning = Reasoning { text: said, ..Reasoning::default() };
        return reader.turns.push(role, Part::Reasoning(reasoning));
    }
    if let Some(seal) = some_text(part, "thoughtSignature").filter(|seal| !seal.is_empty()) {
        seal_last(reader, seal);
    }
    let read = if let Some(call) = inner("functionCall") {
        let name = text(call, "name").to_owned();
        let id = calls.called(some_text(call, "id"), &name);
        let arguments = call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
        Part::Call(Call { id, name, arguments })
    } else if let Some(response) = inner("functionResponse") {
        let name = text(response, "name");
        let id = calls.answered(some_text(response, "id"), name);
        let (text, is_error) = output_of(&response.get("response").map(object).unwrap_or_default(), name);
        Part::Result(Output { id, text, is_error })
    } else if let Some(data) = inner("inlineData") {
        let kind = text(data, "mimeType");
        if !kind.starts_with("image/") {
            return reader.inner("content", "file");
        }
        Part::Image(Image::of_bytes(Some(kind), text(data, "data")))
    } else if let Some(file) = inner("fileData") {
        let kind = text(file, "mimeType");
        if !(kind.is_empty() || kind.starts_with("image/")) {
            return reader.inner("content", "file");
        }
        Part::Image(Image::read(text(file, "fileUri")))
    } else if part.contains_key("text") {
        Part::Text(said)
    } else {
        let kind = part.keys().next().map_or("unknown", String::as_str);
        return reader.inner("content", kind);
    };
    reader.turns.push(role, read);
}

/// The thoughts may not be shown.
fn seal_last(reader: &mut Reader, seal: String) {
    let last = reader.turns.list.last_mut().filter(|turn| turn.role == Role::Assistant);
    match last.and_then(|turn| turn.parts.last_mut()) {
        Some(Part::Reasoning(reasoning)) if reasoning.seal.is_none() => reasoning.seal = Some(seal),
        _ => {
            let reasoning = Reasoning { seal: Some(seal), ..Reasoning::default() };
            reader.turns.push(Role::Assistant, Part::Reasoning(reasoning));
        }
    }
}

/// The members that have the output by convention. Some clients repeat the name of the function beside it.
const OUTPUTS: [&str; 3] = ["output", "result", "content"];

/// By convention, `error` says why a call failed.
fn output_of(response: &Map<String, Value>, function: &str) -> (String, bool) {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_name = |(name, value): &(&String, &Value)| *name == "name" && *value == function;
    let members: Vec<_> = response.iter().filter(|member| !is_name(member)).collect();
    match *members {
        [(name, output)] if OUTPUTS.contains(&name.as_str()) => (plain(output), false),
        [(name, error)] if name == "error" => (plain(error), true),
        _ => (Value::Object(response.clone()).to_string(), false),
    }
}

fn read_tools(reader: &mut Reader, tool: &Map<String, Value>) {
    for (name, value) in tool.iter().filter(|(_, value)| !value.is_null()) {
        if name != "functionDeclarations" {
            reader.inner("tools", name);
            continue;
        }
        for function in objects(value) {
            let mut function = function.clone();
            if let Some(schema) = function.shift_remove("parameters") {
                function.entry("parametersJsonSchema").or_insert_with(|| lower_types(schema));
            }
            reader.tool(&function, "parametersJsonSchema");
        }
    }
}

fn read_choice(reader: &mut Reader, config: &Map<String, Value>) {
    let calling = config.get("functionCallingConfig").map(object).unwrap_or_default();
    let names = calling.get("allowedFunctionNames").and_then(Value::as_array);
    let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    reader.question.choice = match (text(&calling, "mode"), names.as_slice()) {
        ("NONE", _) => Choice::None,
        ("ANY", [only]) => Choice::One((*only).to_owned()),
        ("ANY", several) => {
            if !several.is_empty() {
                reader.inner("toolConfig", "allowedFunctionNames");
            }
            Choice::Any
        }
        ("" | "AUTO" | "MODE_UNSPECIFIED", _) => Choice::Free,
        _ => return reader.other("toolConfig"),
    };
    reader.unread("toolConfig", config, &["functionCallingConfig"]);
}

fn read_config(reader: &mut Reader, config: &Map<String, Value>) {
    let mut schema = None;
    for (name, value) in config.iter().filter(|(_, value)| !value.is_null()) {
        let question = &mut reader.question;
        match name.as_str() {
            "maxOutputTokens" => question.limit = value.as_u64(),
            "temperature" => question.temperature = value.as_f64(),
            "topP" => question.top_p = value.as_f64(),
            "stopSequences" => question.stops = stops(value.as_array().into_iter().flatten()),
            "candidateCount" => question.choices = value.as_u64(),
            "thinkingConfig" => question.effort = effort(&object(value)),
            "responseJsonSchema" | "responseSchema" => schema = Some(lower_types(value.clone())),
            "responseMimeType" => {}
            _ => reader.rest(name, value),
        }
    }
    reader.question.format = match (schema, text(config, "responseMimeType")) {
        (Some(schema), _) => Format::Schema { name: String::new(), schema },
        (None, "application/json") => Format::Object,
        (None, _) => Format::Text,
    };
}

fn effort(config: &Map<String, Value>) -> Option<String> {
    if let Some(level) = some_text(config, "thinkingLevel") {
        return Some(level.to_ascii_lowercase());
    }
    let budget = config.get("thinkingBudget").and_then(Value::as_u64)?;
    Some(if budget == 0 { "none" } else { effort_of(budget) }.to_owned())
}

pub(super) fn write(writer: &mut Writer, question: &Question) {
    writer.set("model", question.model.as_str());
    writer.set("stream", question.is_stream);
    if !question.instructions.is_empty() {
        let parts: Vec<Value> = question.instructions.iter().map(|text| json!({"text": text})).collect();
        writer.set("systemInstruction", json!({"parts": parts}));
    }
    write_contents(writer, question);
    let functions = writer.tools(question, |tool, parameters| {
        described(tool, json!({"name": tool.name, "parametersJsonSchema": parameters}))
    });
    if functions && let Some(tools) = writer.body.get_mut("tools") {
        let declared = tools.take();
        *tools = json!([{"functionDeclarations": declared}]);
        write_choice(writer, question);
    }
    writer.lose_if(functions && question.is_one_call, "is_one_call");
    writer.lose_if(question.user.is_some(), "user");
    writer.lose_if(question.cache_key.is_some(), "cache_key");
    write_config(writer, question);
}

fn write_choice(writer: &mut Writer, question: &Question) {
    let config = match &question.choice {
        Choice::Free => return,
        Choice::None => json!({"mode": "NONE"}),
        Choice::Any => json!({"mode": "ANY"}),
        Choice::One(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    writer.set("toolConfig", json!({"functionCallingConfig": config}));
}

fn write_contents(writer: &mut Writer, question: &Question) {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for call in question.turns.iter().flat_map(|turn| &turn.parts) {
        if let Part::Call(Call { id, name, .. }) = call {
            names.insert(id, name);
        }
    }
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in question.usual_turns() {
        let role = if turn.role == Role::Assistant { "model" } else { "user" };
        writer.lose_if(turn.role == Role::System, "turns.role");
        let parts = write_parts(writer, &turn, &names);
        match contents.last_mut() {
            _ if parts.is_empty() => {}
            Some((before, all)) if *before == role => all.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    let contents = contents.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts}));
    writer.set("contents", contents.collect::<Vec<_>>());
}

/// A seal is on what follows the thoughts.
fn write_parts(writer: &mut Writer, turn: &Turn, names: &BTreeMap<&str, &str>) -> Vec<Value> {
    let (mut parts, mut seal) = (Vec::new(), None);
    for part in &turn.parts {
        let mut written = match part {
            Part::Text(text) => json!({"text": text}),
            Part::Refusal(text) => {
                writer.lose("refusal");
                json!({"text": text})
            }
            Part::Image(image) => {
                let Some(part) = image_part(image) else {
                    writer.lose("images");
                    continue;
                };
                part
            }
            Part::Reasoning(reasoning) => {
                writer.lose_if(reasoning.id.is_some(), "reasoning.id");
                writer.lose_if(reasoning.is_redacted, "reasoning.is_redacted");
                if !reasoning.text.is_empty() {
                    parts.push(json!({"text": reasoning.text, "thought": true}));
                }
                seal = reasoning.seal.clone().or(seal);
                continue;
            }
            Part::Call(Call { id, name, arguments }) => {
                let args = serde_json::from_str(arguments).ok().filter(Value::is_object);
                writer.lose_if(args.is_none(), "arguments");
                json!({"functionCall": {"id": id, "name": name, "args": args.unwrap_or_else(|| json!({}))}})
            }
            Part::Result(Output { id, text, is_error }) => {
                let name = names.get(id.as_str()).copied().unwrap_or(id);
                let response = if *is_error { json!({"error": text}) } else { json!({"output": text}) };
                json!({"functionResponse": {"id": id, "name": name, "response": response}})
            }
        };
        if let Some(seal) = seal.take() {
            written["thoughtSignature"] = json!(seal);
        }
        parts.push(written);
    }
    parts.extend(seal.map(|seal| json!({"text": "", "thoughtSignature": seal})));
    parts
}

fn image_part(image: &Image) -> Option<Value> {
    match (&image.data, &image.url) {
        (Some(data), _) => {
            Some(json!({"inlineData": {"mimeType": image.media_type.as_deref()?, "data": data}}))
        }
        (None, Some(url)) => Some(json!({"fileData": {"fileUri": url}})),
        (None, None) => None,
    }
}

fn write_config(writer: &mut Writer, question: &Question) {
    let mut config = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(name.to_owned(), value);
        }
    };
    set("maxOutputTokens", question.limit.map(Value::from));
    set("temperature", question.temperature.map(Value::from));
    set("topP", question.top_p.map(Value::from));
    set("stopSequences", Some(&question.stops).filter(|stops| !stops.is_empty()).map(|stops| json!(stops)));
    set("candidateCount", Writer::choices(question).map(Value::from));
    if let Some(wanted) = question.effort.as_deref() {
        // The nearest that there is stands for others.
        let effort = match wanted {
            "minimal" => "low",
            "xhigh" | "max" => "high",
            wanted => wanted,
        };
        let budget = if effort == "none" { Some(0) } else { budget_of(effort) };
        writer.lose_if(budget.is_none() || effort != wanted, "effort");
        let shown = |budget| json!({"thinkingBudget": budget, "includeThoughts": budget > 0});
        set("thinkingConfig", budget.map(shown));
    }
    match &question.format {
        Format::Text => {}
        Format::Object => set("responseMimeType", Some(json!("application/json"))),
        Format::Schema { name, schema } => {
            writer.lose_if(!name.is_empty(), "format.name");
            set("responseMimeType", Some(json!("application/json")));
            set("responseJsonSchema", Some(usual_schema(schema)));
        }
    }
    if !config.is_empty() {
        writer.set("generationConfig", config);
    }
}
