//! generateContent: the first candidate.

use checker::pieces;
use serde_json::Value;

use super::super::delta::Delta;
use super::super::parts::{Key, Lane, Parts, text_of};
use super::{Reading, entries, index};

const TEXT: Key = (0, Lane::Text, 0);
const REASONING: Key = (0, Lane::Reasoning, 0);

/// A response that is read.
#[derive(Debug)]
pub(super) struct Reader {
    id: String,
    calls: u64,
    /// A call whose arguments come in pieces.
    open: Option<(Key, Value)>,
    has_finished: bool,
    /// Number of bytes that arguments in pieces may still take.
    room: usize,
}

impl Default for Reader {
    fn default() -> Self {
        Self { id: String::new(), calls: 0, open: None, has_finished: false, room: pieces::MOST }
    }
}

impl Reading for Reader {
    fn event(&mut self, parts: &mut Parts, _kind: &str, chunk: &Value) {
        if self.id.is_empty() {
            text_of(chunk, "responseId").unwrap_or_default().clone_into(&mut self.id);
        }
        parts.count(chunk);
        if !self.id.is_empty() || chunk.get("candidates").is_some() {
            parts.begin(text_of(chunk, "responseId"), text_of(chunk, "modelVersion"));
        }
        let candidates = entries(chunk, "candidates").map(|(_, candidate)| candidate);
        for candidate in candidates.filter(|it| index(it, "index") == 0) {
            for (_, part) in
                candidate.get("content").into_iter().flat_map(|content| entries(content, "parts"))
            {
                self.part(parts, part);
            }
            self.finish(parts, text_of(candidate, "finishReason"));
        }
        let blocked = chunk.get("promptFeedback").and_then(|feedback| text_of(feedback, "blockReason"));
        self.finish(parts, blocked);
    }

    fn body(&mut self, parts: &mut Parts, body: &Value) {
        self.event(parts, "", body);
        parts.out.push(Delta::Ended);
    }

    /// Nothing but the end of the stream ends it, if the candidate has finished.
    fn end(&mut self, parts: &mut Parts) {
        if self.has_finished {
            parts.out.push(Delta::Ended);
        }
    }
}

impl Reader {
    /// A signature seals the thoughts before it, which need not be shown.
    fn part(&mut self, parts: &mut Parts, part: &Value) {
        let text = text_of(part, "text").unwrap_or_default();
        if part.get("thought").is_some_and(|thought| !matches!(thought, Value::Null | Value::Bool(false))) {
            parts.close(TEXT);
            parts.text(REASONING, text);
            return;
        }
        let seal = text_of(part, "thoughtSignature").unwrap_or_default();
        let is_late = !seal.is_empty() && parts.is_open(TEXT);
        if is_late {
            parts.text(TEXT, text);
            parts.close(TEXT);
        }
        parts.seal(REASONING, seal);
        if !text.is_empty() && !is_late {
            parts.close(REASONING);
            parts.text(TEXT, text);
        }
        let Some(call) = part.get("functionCall") else { return };
        if text_of(call, "name").is_some_and(|name| !name.is_empty()) {
            self.finish_call(parts);
            parts.close(REASONING);
            parts.close(TEXT);
            self.call(parts, call);
        } else if let Some((_, arguments)) = &mut self.open {
            pieces::put(arguments, call.get("partialArgs").unwrap_or(&Value::Null), &mut self.room);
            if !goes_on(call) {
                self.finish_call(parts);
            }
        }
    }

    /// Before Gemini 3, calls have no id.
    fn call(&mut self, parts: &mut Parts, call: &Value) {
        let key = (0, Lane::Call, self.calls);
        let own = text_of(call, "id").filter(|id| !id.is_empty()).map(str::to_owned);
        let id = own.unwrap_or_else(|| format!("call_{}_{}", self.id, self.calls));
        self.calls += 1;
        parts.call(key, &id, text_of(call, "name").unwrap_or_default());
        let first = call.get("partialArgs");
        if goes_on(call) || first.is_some() && call.get("args").is_none() {
            let mut arguments = Value::Object(serde_json::Map::new());
            pieces::put(&mut arguments, first.unwrap_or(&Value::Null), &mut self.room);
            self.open = Some((key, arguments));
            if !goes_on(call) {
                self.finish_call(parts);
            }
            return;
        }
        let arguments = match call.get("args") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(arguments) => arguments.to_string(),
        };
        parts.text(key, &arguments);
        parts.close(key);
    }

    fn finish_call(&mut self, parts: &mut Parts) {
        if let Some((key, arguments)) = self.open.take() {
            parts.text(key, &arguments.to_string());
            parts.close(key);
        }
    }

    fn finish(&mut self, parts: &mut Parts, word: Option<&str>) {
        if let Some(word) = word {
            self.has_finished = true;
            self.finish_call(parts);
            parts.close_all(0);
            parts.stop(word, None, None);
        }
    }
}

/// More pieces of a call follow.
fn goes_on(call: &Value) -> bool {
    call.get("willContinue").is_some_and(|goes_on| *goes_on == Value::Bool(true))
}
