//! Messages.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::delta::Delta;
use super::super::parts::{Lane, Parts, text_of};
use super::{Reading, entries, index};

/// Reads a message.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The opening input of a call, by the index of its block. It counts if no piece follows.
    inputs: BTreeMap<u64, String>,
}

impl Reading for Reader {
    fn event(&mut self, parts: &mut Parts, kind: &str, event: &Value) {
        let block = index(event, "index");
        match kind {
            "message_start" => {
                if let Some(message) = event.get("message") {
                    self.message(parts, message);
                }
            }
            "content_block_start" => self.open(parts, block, &event["content_block"]),
            "content_block_delta" => add(parts, block, &event["delta"]),
            "content_block_stop" => self.close(parts, block),
            "message_delta" => {
                parts.count(event);
                stop(parts, &event["delta"]);
            }
            "message_stop" => parts.out.push(Delta::Ended),
            _ => {}
        }
    }

    fn body(&mut self, parts: &mut Parts, body: &Value) {
        self.message(parts, body);
        parts.out.push(Delta::Ended);
    }
}

impl Reader {
    /// In a stream, the message usually has no content.
    fn message(&mut self, parts: &mut Parts, message: &Value) {
        parts.start(message);
        parts.count(message);
        for (block, value) in entries(message, "content") {
            self.open(parts, block, value);
            self.close(parts, block);
        }
        stop(parts, message);
    }

    fn open(&mut self, parts: &mut Parts, block: u64, value: &Value) {
        let text = |member| text_of(value, member).unwrap_or_default();
        let reasoning = (block, Lane::Reasoning, 0);
        match text("type") {
            "text" => parts.text((block, Lane::Text, 0), text("text")),
            "thinking" => {
                parts.text(reasoning, text("thinking"));
                parts.seal(reasoning, text("signature"));
            }
            "redacted_thinking" => {
                parts.reasoning(reasoning, None, true);
                parts.seal(reasoning, text("data"));
            }
            "tool_use" => {
                parts.call((block, Lane::Call, 0), text("id"), text("name"));
                let input = value.get("input").filter(|input| input.is_object());
                self.inputs.insert(block, input.map_or_else(|| "{}".to_owned(), Value::to_string));
            }
            _ => {}
        }
    }

    fn close(&mut self, parts: &mut Parts, block: u64) {
        if let Some(input) = self.inputs.remove(&block) {
            parts.whole((block, Lane::Call, 0), &input);
        }
        parts.close_all(block);
    }
}

fn add(parts: &mut Parts, block: u64, delta: &Value) {
    let text = |member| text_of(delta, member).unwrap_or_default();
    match text("type") {
        "text_delta" => parts.text((block, Lane::Text, 0), text("text")),
        "thinking_delta" => parts.text((block, Lane::Reasoning, 0), text("thinking")),
        "signature_delta" => parts.seal((block, Lane::Reasoning, 0), text("signature")),
        "input_json_delta" => parts.text((block, Lane::Call, 0), text("partial_json")),
        _ => {}
    }
}

fn stop(parts: &mut Parts, value: &Value) {
    if let Some(word) = text_of(value, "stop_reason") {
        parts.stop(word, None, text_of(value, "stop_sequence"));
    }
}
