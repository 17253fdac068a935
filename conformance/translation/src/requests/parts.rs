//! Parts of requests that several APIs share: texts, images, tools, forms of the reply.

use serde_json::{Map, Value, json};

use super::members::{content_name, is_silent_inside};
use super::{Reader, Writer};
use crate::question::{Call, Choice, Format, Image, Part, Question, Reasoning, Role, Tool, Turn};

/// The efforts of reasoning, in the words of Responses and Chat Completions.
pub(super) const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Budgets of reasoning for each effort, in ascending order.
const BUDGETS: [(&str, u64); 3] = [("low", 1024), ("medium", 2048), ("high", 4096)];

/// The highest effort whose budget fits.
pub(super) fn effort_of(budget: u64) -> &'static str {
    let fitting = BUDGETS.iter().rev().find(|(_, least)| *least <= budget);
    fitting.map_or("low", |(effort, _)| *effort)
}

pub(super) fn budget_of(effort: &str) -> Option<u64> {
    BUDGETS.iter().find(|(name, _)| *name == effort).map(|(_, budget)| *budget)
}

/// The types of a schema in lower case. A schema of OpenAPI has them in capital letters.
pub fn lower_types(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(kind) if name == "type" => kind.make_ascii_lowercase(),
                    member => *member = lower_types(member.take()),
                }
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| *entry = lower_types(entry.take())),
        _ => {}
    }
    schema
}

/// Empty if the member is not a text.
pub(super) fn text<'a>(of: &'a Map<String, Value>, name: &str) -> &'a str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// `None` if the member is not a text.
pub(super) fn some_text(of: &Map<String, Value>, name: &str) -> Option<String> {
    of.get(name).and_then(Value::as_str).map(str::to_owned)
}

pub(super) fn objects(list: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    list.as_array().into_iter().flatten().filter_map(Value::as_object)
}

pub(super) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

impl Image {
    /// The address may be a data URL.
    pub(super) fn read(address: &str) -> Self {
        let data_url = || {
            let (head, data) = address.strip_prefix("data:")?.split_once(',')?;
            let head = head.strip_suffix(";base64")?;
            let media_type = head.split(';').next().filter(|name| !name.is_empty());
            Some(Self::of_bytes(media_type, data))
        };
        data_url().unwrap_or_else(|| Self { url: Some(address.to_owned()), ..Self::default() })
    }

    /// The media type is written in the usual way.
    pub(super) fn of_bytes(media_type: Option<&str>, data: &str) -> Self {
        let usual = |name: &str| match name.to_ascii_lowercase() {
            name if name == "image/jpg" => "image/jpeg".to_owned(),
            name => name,
        };
        Self { url: None, media_type: media_type.map(usual), data: Some(data.to_owned()) }
    }

    /// A data URL if the bytes are here.
    pub(super) fn address(&self) -> String {
        match &self.data {
            Some(data) => format!("data:{};base64,{data}", self.media_type.as_deref().unwrap_or_default()),
            None => self.url.clone().unwrap_or_default(),
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.data.is_some() || self.url.is_some()
    }
}

impl Reader {
    /// Members that nothing has read are noted.
    pub(super) fn unread(&mut self, place: &str, of: &Map<String, Value>, read: &[&str]) {
        for (name, value) in of {
            if !read.contains(&name.as_str()) && !is_silent_inside(name, value) {
                self.inner(place, name);
            }
        }
    }

    /// A text, or a list of parts with texts.
    pub(super) fn instructions(&mut self, content: &Value) {
        match content {
            Value::String(text) => self.instruct(text),
            _ => {
                for part in objects(content) {
                    match part.get("text").and_then(Value::as_str) {
                        Some(text) => self.instruct(text),
                        None => self.inner("instructions", content_name(text(part, "type"))),
                    }
                }
            }
        }
    }

    /// Responses and Chat Completions have a text, or a list of parts.
    pub(super) fn content(&mut self, role: Role, content: &Value) {
        match content {
            Value::String(text) => self.turns.push(role, Part::Text(text.clone())),
            Value::Null => {}
            Value::Array(list) => {
                for part in list {
                    match part {
                        Value::String(text) => self.turns.push(role, Part::Text(text.clone())),
                        Value::Object(part) => self.part(role, part),
                        _ => self.inner("content", "unknown"),
                    }
                }
            }
            _ => self.inner("content", "unknown"),
        }
    }

    /// Responses and Chat Completions share these parts.
    fn part(&mut self, role: Role, part: &Map<String, Value>) {
        match text(part, "type") {
            "text" | "input_text" | "output_text" => {
                self.turns.push(role, Part::Text(text(part, "text").to_owned()));
            }
            "refusal" => self.turns.push(role, Part::Refusal(text(part, "refusal").to_owned())),
            "image_url" | "input_image" => self.image(role, part),
            kind => self.inner("content", content_name(kind)),
        }
    }

    fn image(&mut self, role: Role, part: &Map<String, Value>) {
        let address = part.get("image_url");
        let inner = address.and_then(Value::as_object);
        let url = inner.and_then(|inner| inner.get("url")).or(address).and_then(Value::as_str);
        match url {
            Some(url) => self.turns.push(role, Part::Image(Image::read(url))),
            None => self.inner("image", "file_id"),
        }
        let detail = inner.unwrap_or(part).get("detail").and_then(Value::as_str);
        if detail.is_some_and(|detail| detail != "auto") {
            self.inner("image", "detail");
        }
    }

    /// A text, or a list of parts with texts. Other parts are noted.
    pub(super) fn output(&mut self, content: Option<&Value>) -> String {
        match content {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(list)) => {
                let mut output = String::new();
                for part in list {
                    if let Some(text) = part.as_str().or_else(|| part.get("text").and_then(Value::as_str)) {
                        output.push_str(text);
                    } else {
                        let kind = part.get("type").and_then(Value::as_str).unwrap_or("unknown");
                        self.inner("result", content_name(kind));
                    }
                }
                output
            }
            Some(other) => other.to_string(),
        }
    }

    pub(super) fn tool(&mut self, tool: &Map<String, Value>, parameters: &str) {
        self.question.tools.push(Tool {
            name: text(tool, "name").to_owned(),
            // An empty one says nothing.
            description: some_text(tool, "description").filter(|text| !text.is_empty()),
            parameters: usual_parameters(tool.get(parameters)),
        });
        self.unread("tools", tool, &["name", "description", parameters]);
    }

    pub(super) fn choice(&mut self, word: &str) -> bool {
        self.question.choice = match word {
            "auto" => Choice::Free,
            "none" => Choice::None,
            "required" | "any" => Choice::Any,
            _ => return false,
        };
        true
    }

    /// The schema is a member of this object.
    pub(super) fn format(&mut self, kind: &str, of: &Map<String, Value>) {
        self.question.format = match kind {
            "text" => Format::Text,
            "json_object" => Format::Object,
            "json_schema" => Format::Schema {
                name: text(of, "name").to_owned(),
                schema: of.get("schema").cloned().unwrap_or_default(),
            },
            _ => return self.inner("format", kind),
        };
        self.unread("format", of, &["name", "schema", "strict", "json_schema"]);
    }

    /// Returns whether Responses and Chat Completions share the member.
    pub(super) fn shared(&mut self, name: &str, value: &Value) -> bool {
        match name {
            "model" => value.as_str().unwrap_or_default().clone_into(&mut self.question.model),
            "temperature" => self.question.temperature = value.as_f64(),
            "top_p" => self.question.top_p = value.as_f64(),
            "stream" => self.question.is_stream = value.as_bool().unwrap_or_default(),
            "prompt_cache_key" => self.question.cache_key = value.as_str().map(str::to_owned),
            "parallel_tool_calls" => self.question.is_one_call = *value == Value::Bool(false),
            "user" | "safety_identifier" => {
                let user = value.as_str().map(str::to_owned);
                match &self.question.user {
                    Some(known) if user.as_ref() != Some(known) => self.other(name),
                    _ => self.question.user = user,
                }
            }
            _ => return false,
        }
        true
    }
}

impl Writer {
    /// Responses and Chat Completions share these members, except for tools.
    pub(super) fn shared(&mut self, question: &Question) {
        self.set("model", question.model.as_str());
        self.set_some("temperature", question.temperature);
        self.set_some("top_p", question.top_p);
        self.set_some("user", question.user.as_deref());
        self.set_some("prompt_cache_key", question.cache_key.as_deref());
        if question.is_stream {
            self.set("stream", true);
        }
    }

    /// Returns whether there are any: a request without tools must not have a choice of them.
    pub(super) fn tools(&mut self, question: &Question, one: impl Fn(&Tool, Value) -> Value) -> bool {
        if question.tools.is_empty() {
            self.lose_if(question.choice != Choice::Free, "choice");
            self.lose_if(question.is_one_call, "is_one_call");
            return false;
        }
        let tools = question.tools.iter().map(|tool| one(tool, usual_parameters(Some(&tool.parameters))));
        self.set("tools", tools.collect::<Vec<_>>());
        true
    }

    /// The same in Responses and Chat Completions.
    pub(super) fn choice(&mut self, question: &Question, one: impl FnOnce(&str) -> Value) {
        match &question.choice {
            Choice::Free => {}
            Choice::None => self.set("tool_choice", "none"),
            Choice::Any => self.set("tool_choice", "required"),
            Choice::One(name) => self.set("tool_choice", one(name)),
        }
        if question.is_one_call {
            self.set("parallel_tool_calls", false);
        }
    }

    /// `None` if it is no word of Responses and Chat Completions.
    pub(super) fn effort<'a>(&mut self, question: &'a Question) -> Option<&'a str> {
        let effort = question.effort.as_deref()?;
        let is_known = EFFORTS.contains(&effort);
        self.lose_if(!is_known, "effort");
        is_known.then_some(effort)
    }

    /// Responses and Chat Completions require a name.
    pub(super) fn format_name<'a>(&mut self, name: &'a str) -> &'a str {
        self.lose_if(name.is_empty(), "format.name");
        if name.is_empty() { "reply" } else { name }
    }

    /// Every API gives one, so one is not written.
    pub(super) fn choices(question: &Question) -> Option<u64> {
        question.choices.filter(|number| *number != 1)
    }

    /// An API without seals loses them.
    pub(super) fn lose_seal(&mut self, reasoning: &Reasoning) {
        self.lose_if(reasoning.id.is_some(), "reasoning.id");
        self.lose_if(reasoning.seal.is_some(), "reasoning.seal");
        self.lose_if(reasoning.is_redacted, "reasoning.is_redacted");
    }
}

/// The description is optional.
pub(super) fn described(tool: &Tool, mut written: Value) -> Value {
    if let Some(description) = &tool.description {
        written["description"] = json!(description);
    }
    written
}

pub(super) fn system_texts(turn: &Turn) -> impl Iterator<Item = &str> {
    turn.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None })
}

/// A single text is not written as a list.
pub(super) fn text_or_parts(parts: Vec<Value>) -> Value {
    match parts.as_slice() {
        [only] if only.get("text").is_some() => only.get("text").cloned().unwrap_or_default(),
        _ => Value::Array(parts),
    }
}

/// Empty texts are dropped.
pub(super) fn stops<'v>(list: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    list.into_iter().filter_map(Value::as_str).filter(|stop| !stop.is_empty()).map(str::to_owned).collect()
}

/// A tool without a schema takes no arguments.
fn usual_parameters(schema: Option<&Value>) -> Value {
    match schema {
        Some(Value::Object(schema)) if !schema.is_empty() => Value::Object(schema.clone()),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// The schema has to be an object.
pub(super) fn usual_schema(schema: &Value) -> Value {
    Value::Object(object(schema))
}

/// Some clients send the arguments as an object.
pub(super) fn call(id: &str, name: &str, arguments: Option<&Value>) -> Part {
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    Part::Call(Call { id: id.to_owned(), name: name.to_owned(), arguments })
}
