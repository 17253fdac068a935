//! What requests of several APIs have in common: texts, images, tools, forms of the reply.

use serde_json::{Map, Value, json};

use super::members::{content_name, is_silent_inside};
use super::{Reader, Writer};
use crate::question::{Call, Choice, Format, Image, Part, Question, Reasoning, Role, Tool};

/// The efforts of reasoning, in the words of Responses and Chat Completions.
pub(super) const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Returns a member that is a text; an empty text if it is not.
pub(super) fn text<'a>(of: &'a Map<String, Value>, name: &str) -> &'a str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a member that is a text, if it is.
pub(super) fn some_text(of: &Map<String, Value>, name: &str) -> Option<String> {
    of.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// Returns the objects of a list; none if it is no list.
pub(super) fn objects(list: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    list.as_array().into_iter().flatten().filter_map(Value::as_object)
}

/// Returns a value as an object; an empty one if it is not.
pub(super) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

impl Image {
    /// Reads an address, which may be a data URL.
    pub(super) fn read(address: &str) -> Self {
        let data_url = || {
            let (head, data) = address.strip_prefix("data:")?.split_once(',')?;
            let head = head.strip_suffix(";base64")?;
            let media_type = head.split(';').next().filter(|name| !name.is_empty());
            Some(Self::of_bytes(media_type, data))
        };
        data_url().unwrap_or_else(|| Self { url: Some(address.to_owned()), ..Self::default() })
    }

    /// Returns an image whose bytes are here. Its media type is written in the usual way.
    pub(super) fn of_bytes(media_type: Option<&str>, data: &str) -> Self {
        let usual = |name: &str| match name.to_ascii_lowercase() {
            name if name == "image/jpg" => "image/jpeg".to_owned(),
            name => name,
        };
        Self { url: None, media_type: media_type.map(usual), data: Some(data.to_owned()) }
    }

    /// Returns its address, which is a data URL if its bytes are here.
    pub(super) fn address(&self) -> String {
        match &self.data {
            Some(data) => format!("data:{};base64,{data}", self.media_type.as_deref().unwrap_or_default()),
            None => self.url.clone().unwrap_or_default(),
        }
    }

    /// Returns whether it has an address or bytes.
    pub(super) fn is_there(&self) -> bool {
        self.data.is_some() || self.url.is_some()
    }
}

impl Reader {
    /// Notes the members of a tool, a message or a part that nothing has read.
    pub(super) fn unread(&mut self, place: &str, of: &Map<String, Value>, read: &[&str]) {
        for (name, value) in of {
            if !read.contains(&name.as_str()) && !is_silent_inside(name, value) {
                self.inner(place, name);
            }
        }
    }

    /// Reads instructions: a text, or a list of parts with texts.
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

    /// Reads the content of a message of Responses or Chat Completions: a text, or a list of parts.
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

    /// Reads a part of a message of Responses or Chat Completions.
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

    /// Reads an image, whose address is a text or an object with a text.
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

    /// Returns the output of a tool: a text, or a list of parts with texts. Other parts are noted.
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

    /// Reads a function that the client runs.
    pub(super) fn tool(&mut self, tool: &Map<String, Value>, parameters: &str) {
        self.question.tools.push(Tool {
            name: text(tool, "name").to_owned(),
            // An empty one says nothing.
            description: some_text(tool, "description").filter(|text| !text.is_empty()),
            parameters: usual_parameters(tool.get(parameters)),
        });
        self.unread("tools", tool, &["name", "description", parameters]);
    }

    /// Reads the word or the type of a tool choice. Returns whether it is known.
    pub(super) fn choice(&mut self, word: &str) -> bool {
        self.question.choice = match word {
            "auto" => Choice::Free,
            "none" => Choice::None,
            "required" | "any" => Choice::Any,
            _ => return false,
        };
        true
    }

    /// Reads a form of the reply whose schema is a member of this object.
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

    /// Reads a member that Responses and Chat Completions share. Returns whether it is one.
    pub(super) fn shared(&mut self, name: &str, value: &Value) -> bool {
        match name {
            "model" => value.as_str().unwrap_or_default().clone_into(&mut self.question.model),
            "temperature" => self.question.temperature = value.as_f64(),
            "top_p" => self.question.top_p = value.as_f64(),
            "stream" => self.question.is_stream = value.as_bool().unwrap_or_default(),
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
    /// Writes the members that Responses and Chat Completions share, except for tools.
    pub(super) fn shared(&mut self, question: &Question) {
        self.set("model", question.model.as_str());
        self.set_some("temperature", question.temperature);
        self.set_some("top_p", question.top_p);
        self.set_some("user", question.user.as_deref());
        if question.is_stream {
            self.set("stream", true);
        }
    }

    /// Writes the tools, each by its name and the schema of its arguments. Returns whether there are any: a request without
    /// tools must not have a choice of them.
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

    /// Writes which tools the reply may call, in Responses and Chat Completions.
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

    /// Returns the effort, if it is a word of Responses and Chat Completions.
    pub(super) fn effort<'a>(&mut self, question: &'a Question) -> Option<&'a str> {
        let effort = question.effort.as_deref()?;
        let is_known = EFFORTS.contains(&effort);
        self.lose_if(!is_known, "effort");
        is_known.then_some(effort)
    }

    /// Returns the name of the form of a reply, which Responses and Chat Completions require.
    pub(super) fn format_name<'a>(&mut self, name: &'a str) -> &'a str {
        self.lose_if(name.is_empty(), "format.name");
        if name.is_empty() { "reply" } else { name }
    }

    /// Returns the number of choices. One is what every API gives.
    pub(super) fn choices(question: &Question) -> Option<u64> {
        question.choices.filter(|number| *number != 1)
    }

    /// Notes what an API without seals loses of reasoning.
    pub(super) fn lose_seal(&mut self, reasoning: &Reasoning) {
        self.lose_if(reasoning.id.is_some(), "reasoning.id");
        self.lose_if(reasoning.seal.is_some(), "reasoning.seal");
        self.lose_if(reasoning.is_redacted, "reasoning.is_redacted");
    }
}

/// Returns a tool with its description, if it has one.
pub(super) fn described(tool: &Tool, mut written: Value) -> Value {
    if let Some(description) = &tool.description {
        written["description"] = json!(description);
    }
    written
}

/// Returns the content of a message: a text if it is only one.
pub(super) fn text_or_parts(parts: Vec<Value>) -> Value {
    match parts.as_slice() {
        [only] if only.get("text").is_some() => only.get("text").cloned().unwrap_or_default(),
        _ => Value::Array(parts),
    }
}

/// Returns the texts of a list that are not empty.
pub(super) fn stops<'v>(list: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    list.into_iter().filter_map(Value::as_str).filter(|stop| !stop.is_empty()).map(str::to_owned).collect()
}

/// Returns the schema of a tool's arguments. A tool without one takes none.
fn usual_parameters(schema: Option<&Value>) -> Value {
    match schema {
        Some(Value::Object(schema)) if !schema.is_empty() => Value::Object(schema.clone()),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// Returns the schema of a form of the reply, which is an object.
pub(super) fn usual_schema(schema: &Value) -> Value {
    Value::Object(object(schema))
}

/// Returns a call of a tool. Some clients send the arguments as an object.
pub(super) fn call(id: &str, name: &str, arguments: Option<&Value>) -> Part {
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    Part::Call(Call { id: id.to_owned(), name: name.to_owned(), arguments })
}
