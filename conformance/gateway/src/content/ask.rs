//! Questions of requests, in the terms that all APIs share.

use serde_json::{Map, Value};
use spec::Api;
use translation::{Format, Question};

use super::directive::Directives;
use super::pieces::{fragments_of, tokens};
use super::plan::Item;
use super::speech::speech;
use super::{fitting, sample, text};

/// The last input of a request.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Ask {
    /// The last text of the user in a conversation.
    pub(super) text: String,
    /// The conversation, as JSON.
    pub(super) said: String,
    /// Directives beside the conversation, where a model does not read them.
    pub(super) reference: String,
    pub(super) question: Question,
    /// Whether the last entry is the output of a tool.
    pub(super) is_tool_output: bool,
    pub(super) has_image: bool,
    pub(super) has_file: bool,
    /// Whether the request is a trigger to compact the conversation.
    pub(super) is_trigger: bool,
}

/// Maximum number of choices, so that a request cannot overload the server.
const MOST_CHOICES: u64 = 16;

impl Ask {
    pub(super) fn read(request: &Value, api: &Api) -> Self {
        let reference = speech(api).reference.as_ref().and_then(|place| request.pointer(place)?.as_str());
        let input = request.get(api.request.input);
        let last = input.and_then(|input| text(input.as_array()?.last()?, "type"));
        let trigger = api.request.compaction.as_ref().map(|trigger| trigger.entry);
        let mut ask = Self {
            said: input.map(Value::to_string).unwrap_or_default(),
            reference: reference.unwrap_or_default().to_owned(),
            question: Question::read(api, request),
            is_trigger: last.is_some() && last == trigger,
            ..Self::default()
        };
        match input {
            Some(Value::String(text)) => ask.text.clone_from(text),
            Some(Value::Array(entries)) => {
                for entry in entries {
                    ask.take(entry);
                }
            }
            _ => {}
        }
        ask
    }

    /// The words of the APIs differ, and none of them has two meanings.
    fn take(&mut self, entry: &Value) {
        let [role, kind] = ["role", "type"].map(|name| text(entry, name).unwrap_or_default());
        // The beginning of an answer asks nothing.
        if role == "model" {
            return;
        }
        let content = entry.get("content").or_else(|| entry.get("parts"));
        let parts = content.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let kinds = || {
            parts.iter().filter_map(|part| {
                text(part, "type")
                    .or_else(|| text(part.get("inlineData").or(part.get("fileData"))?, "mimeType"))
            })
        };
        let is_output = |part: &Value| {
            text(part, "type") == Some("tool_result") || part.get("functionResponse").is_some()
        };
        self.is_tool_output = role == "tool" || kind.ends_with("_call_output") || parts.iter().any(is_output);
        if !["", "user"].contains(&role) || !["", "message"].contains(&kind) {
            return;
        }
        // A reference has no content.
        if !content.is_some_and(|content| content.is_string() || content.is_array()) {
            return;
        }
        let is_image = |kind: &str| kind.contains("image");
        let is_file = |kind: &str| kind == "document" || kind.ends_with("file") || kind.contains('/');
        self.has_image = kinds().any(is_image);
        self.has_file = kinds().any(|kind| is_file(kind) && !is_image(kind));
        self.text = match content {
            Some(Value::String(text)) => text.clone(),
            _ => parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join(" "),
        };
    }

    pub(super) fn choices(&self) -> usize {
        usize::try_from(self.question.choices.unwrap_or(1).clamp(1, MOST_CHOICES)).unwrap_or(1)
    }

    pub(super) fn plain(&self) -> String {
        let mut pieces = self.text.split("[[");
        let first = pieces.next().unwrap_or_default();
        let rest = pieces.filter_map(|piece| piece.split_once("]]")).map(|(_, after)| after);
        std::iter::once(first).chain(rest).collect()
    }

    pub(super) fn tokens(&self) -> u64 {
        8 + tokens(&self.plain())
    }

    /// A tool output is answered with text, even if the conversation contains directives. Otherwise calls would never
    /// end.
    pub(super) fn directives(&self) -> Directives {
        if self.is_tool_output {
            return Directives::default();
        }
        Directives::read(&format!("{}{}", self.reference, self.text))
    }

    pub(super) fn calls(&self, name: &str, schema: &Value, is_for_one: bool) -> Vec<Item> {
        let arguments = match fitting::value(schema) {
            Value::Object(arguments) => Value::Object(arguments),
            _ => Value::Object(Map::new()),
        };
        let count = if !is_for_one && self.text.contains(" and ") { 2 } else { 1 };
        let call = |number| {
            // Parallel calls in a response have different arguments.
            let text = arguments.to_string().replace("\"Oslo\"", &format!("\"{}\"", sample::city(number)));
            Item::Function { name: name.to_owned(), arguments: fragments_of(&text) }
        };
        (0..count).map(call).collect()
    }

    pub(super) fn words(&self, seed: u64) -> Vec<String> {
        match &self.question.format {
            Format::Schema { schema, .. } => {
                return fragments_of(&fitting::value(schema).to_string());
            }
            Format::Object => return fragments_of(&self.object()),
            Format::Text => {}
        }
        if let Some(word) = self.recalled() {
            return in_pieces(&word);
        }
        if let Some(word) = word_after(&self.text, "Use the word ") {
            return in_pieces(&word).into_iter().chain([": ".to_owned()]).chain(sample::text(seed)).collect();
        }
        if self.text.contains("What is my name")
            && let Some(name) = word_after(&self.said, "My name is ")
        {
            return in_pieces(&name);
        }
        let reply = match (self.has_image, self.has_file, self.is_tool_output) {
            (true, ..) => "I see an image.",
            (_, true, _) => "I have read the file.",
            (_, _, true) => "The tool has answered.",
            _ => return sample::text(seed),
        };
        fragments_of(reply)
    }

    fn object(&self) -> String {
        let keys = self.text.split('"').skip(1).step_by(2);
        let members: Map<String, Value> = keys.map(|key| (key.to_owned(), "Hello, world.".into())).collect();
        if members.is_empty() {
            r#"{"answer":"Hello, world."}"#.to_owned()
        } else {
            Value::Object(members).to_string()
        }
    }

    /// The word that the user asked to remember earlier, if the user asks for it now.
    fn recalled(&self) -> Option<String> {
        if !self.text.to_lowercase().contains("which word") {
            return None;
        }
        word_after(&self.said, "Remember the word ")
    }
}

pub(super) fn word_after(text: &str, words: &str) -> Option<String> {
    let (_, after) = text.split_once(words)?;
    let word: String = after.chars().take_while(|c| c.is_alphanumeric()).collect();
    (!word.is_empty()).then_some(word)
}

/// Splits a word as models do, so that faults between deltas can be applied to it.
fn in_pieces(word: &str) -> Vec<String> {
    let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    [first, rest].iter().filter(|piece| !piece.is_empty()).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(entries: &[Value]) -> Ask {
        let mut ask = Ask::default();
        for entry in entries {
            ask.take(entry);
        }
        ask
    }

    #[test]
    fn entries_without_content_ask_nothing_else() {
        let question = json!({"role": "user", "content": "How are you?"});
        let ask = asked(&[question, json!({"id": "msg_1"})]);
        assert_eq!(ask.text, "How are you?");
    }

    #[test]
    fn the_beginning_of_an_answer_leaves_the_output_of_a_tool_the_last_one() {
        let result = json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]});
        let ask = asked(&[result, json!({"role": "model", "parts": [{"text": "It"}]})]);
        assert!(ask.is_tool_output);
    }
}
