//! Chat Completions: the first choice.

use serde_json::Value;

use super::super::delta::Delta;
use super::super::parts::{Key, Lane, Parts, text_of};
use super::{Reading, entries, index, number};

const TEXT: Key = (0, Lane::Text, 0);
const REFUSAL: Key = (0, Lane::Refusal, 0);
const REASONING: Key = (0, Lane::Reasoning, 0);

/// Reads a completion.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The call that opened last, with its arguments so far. It ends where another part begins, if they are whole.
    last: Option<(Key, String)>,
    has_finished: bool,
    is_body: bool,
}

impl Reading for Reader {
    fn event(&mut self, parts: &mut Parts, _kind: &str, chunk: &Value) {
        let choice = entries(chunk, "choices").map(|(_, choice)| choice).find(|it| index(it, "index") == 0);
        // Azure begins with a chunk about the prompt that has no id.
        if choice.is_some() || text_of(chunk, "id").is_some_and(|id| !id.is_empty()) {
            parts.start(chunk);
        }
        if let Some(choice) = choice {
            if let Some(delta) = choice.get("delta").filter(|delta| delta.is_object()) {
                self.content(parts, delta);
            }
            self.finish(parts, choice);
        }
        parts.count(chunk);
    }

    fn body(&mut self, parts: &mut Parts, body: &Value) {
        self.is_body = true;
        parts.start(body);
        if let Some((_, choice)) = entries(body, "choices").find(|(_, choice)| index(choice, "index") == 0) {
            if let Some(message) = choice.get("message") {
                self.content(parts, message);
            }
            self.finish(parts, choice);
        }
        parts.count(body);
        parts.out.push(Delta::Ended);
    }

    /// The marker counts if the choice has finished.
    fn done(&mut self, parts: &mut Parts) {
        if self.has_finished {
            parts.out.push(Delta::Ended);
        }
    }
}

impl Reader {
    /// Text that resumes after another part is a part of its own.
    fn content(&mut self, parts: &mut Parts, delta: &Value) {
        let text = |member| text_of(delta, member).unwrap_or_default();
        // Vendors use one of these names.
        let reasoning = Some(text("reasoning_content")).filter(|text| !text.is_empty());
        for (key, text) in [
            (REASONING, reasoning.unwrap_or_else(|| text("reasoning"))),
            (TEXT, text("content")),
            (REFUSAL, text("refusal")),
        ] {
            if !text.is_empty() {
                self.close_others(parts, key);
                parts.text(key, text);
            }
        }
        for (position, call) in entries(delta, "tool_calls") {
            self.call(parts, position, call);
        }
    }

    fn call(&mut self, parts: &mut Parts, position: u64, call: &Value) {
        // The index in a body means nothing, and some streams have none.
        let index = call.get("index").and_then(number).filter(|_| !self.is_body);
        let key = (0, Lane::Call, index.unwrap_or(position));
        let function = call.get("function").or_else(|| call.get("custom")).unwrap_or(&Value::Null);
        let text = |member| text_of(function, member).unwrap_or_default();
        if let Some(id) = text_of(call, "id").filter(|_| !parts.is_known(key)) {
            self.close_others(parts, key);
            parts.call(key, id, text("name"));
            self.last = Some((key, String::new()));
        }
        let arguments = function.get("arguments").or_else(|| function.get("input")).unwrap_or(&Value::Null);
        let arguments = match arguments {
            Value::String(text) => text.clone(),
            Value::Object(_) => arguments.to_string(),
            _ => String::new(),
        };
        if let Some((_, so_far)) = self.last.as_mut().filter(|(last, _)| *last == key) {
            so_far.push_str(&arguments);
        }
        parts.text(key, &arguments);
    }

    /// A call with unfinished arguments stays open, as calls can be interleaved.
    fn close_others(&mut self, parts: &mut Parts, key: Key) {
        for other in [REASONING, TEXT, REFUSAL].into_iter().filter(|other| *other != key) {
            parts.close(other);
        }
        if let Some((last, arguments)) = self.last.take_if(|(last, _)| *last != key)
            && arguments.ends_with('}')
            && serde_json::from_str::<&serde_json::value::RawValue>(&arguments).is_ok()
        {
            parts.close(last);
        }
    }

    fn finish(&mut self, parts: &mut Parts, choice: &Value) {
        if let Some(word) = text_of(choice, "finish_reason") {
            self.has_finished = true;
            parts.close_all(0);
            // vLLM names the text before which it stopped.
            parts.stop(word, None, text_of(choice, "stop_reason"));
        }
    }
}
