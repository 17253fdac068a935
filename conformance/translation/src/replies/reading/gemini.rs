//! generateContent: the first candidate.

use serde_json::Value;

use super::super::delta::Delta;
use super::super::parts::{Key, Lane, Parts, text_of};
use super::{Reading, count, entries, index};
use crate::Usage;

const TEXT: Key = (0, Lane::Text, 0);
const REASONING: Key = (0, Lane::Reasoning, 0);

/// Reads a response.
#[derive(Debug, Default)]
pub(super) struct Reader {
    id: String,
    calls: u64,
    has_finished: bool,
}

impl Reading for Reader {
    fn event(&mut self, parts: &mut Parts, _kind: &str, chunk: &Value) {
        if self.id.is_empty() {
            text_of(chunk, "responseId").unwrap_or_default().clone_into(&mut self.id);
        }
        parts.begin(text_of(chunk, "responseId"), text_of(chunk, "modelVersion"));
        let mut candidates = entries(chunk, "candidates").map(|(_, candidate)| candidate);
        if let Some(candidate) = candidates.find(|it| index(it, "index") == 0) {
            for (_, part) in
                candidate.get("content").into_iter().flat_map(|content| entries(content, "parts"))
            {
                self.part(parts, part);
            }
            self.finish(parts, text_of(candidate, "finishReason"));
        }
        let blocked = chunk.get("promptFeedback").and_then(|feedback| text_of(feedback, "blockReason"));
        self.finish(parts, blocked);
        read_usage(parts, chunk);
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
        if part.get("thought") == Some(&Value::Bool(true)) {
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
        if let Some(call) = part.get("functionCall").filter(|call| text_of(call, "name").is_some()) {
            parts.close(REASONING);
            parts.close(TEXT);
            self.call(parts, call);
        } else if !text.is_empty() && !is_late {
            parts.close(REASONING);
            parts.text(TEXT, text);
        }
    }

    /// Before Gemini 3, calls have no id.
    fn call(&mut self, parts: &mut Parts, call: &Value) {
        let key = (0, Lane::Call, self.calls);
        let own = text_of(call, "id").filter(|id| !id.is_empty()).map(str::to_owned);
        let id = own.unwrap_or_else(|| format!("call_{}_{}", self.id, self.calls));
        self.calls += 1;
        parts.call(key, &id, text_of(call, "name").unwrap_or_default());
        let arguments = call.get("args").filter(|args| !args.is_null());
        parts.text(key, &arguments.map_or_else(|| "{}".to_owned(), Value::to_string));
        parts.close(key);
    }

    fn finish(&mut self, parts: &mut Parts, word: Option<&str>) {
        if let Some(word) = word {
            self.has_finished = true;
            parts.close_all(0);
            parts.stop(word, None, None);
        }
    }
}

/// The tokens of thoughts are not among those of the candidates.
fn read_usage(parts: &mut Parts, chunk: &Value) {
    let places = &parts.api.usage;
    let Some(counts) = chunk.get(places.member).filter(|counts| counts.is_object()) else { return };
    let count = |place| count(counts, place);
    let (answered, reasoning) = (count(places.output), count(places.reasoning));
    let output = answered.or(reasoning).map(|_| answered.unwrap_or(0) + reasoning.unwrap_or(0));
    let usage = Usage { input: count(places.input), cached: count(places.cached), output, reasoning };
    parts.out.push(Delta::Usage(usage));
}
