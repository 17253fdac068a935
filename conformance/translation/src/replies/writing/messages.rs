//! Messages: one block at a time.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::super::delta::{Delta, PartKind};
use super::{Front, Head, Writing, errors, event, typed};
use crate::{Part, Reply, ReplyError, Stop, Usage};

/// Writes a message.
#[derive(Debug)]
pub(super) struct Writer {
    front: Front,
    head: Head,
    blocks: u64,
    open: Option<Block>,
    /// Parts that opened while a block was open, each with its deltas.
    waiting: VecDeque<(usize, Vec<Delta>)>,
}

/// An open block.
#[derive(Debug)]
struct Block {
    part: usize,
    kind: PartKind,
    /// Whether it has begun in the stream: redacted thinking begins with its data.
    has_begun: bool,
    seal: Option<String>,
}

impl Writing for Writer {
    fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        self.head.note(&self.front, delta);
        match delta {
            Delta::Started { .. } => {
                let mut message = self.message(&[]);
                // The upstream counts the input only at its end.
                message["usage"] = usage(Usage { input: Some(0), output: Some(0), ..Usage::default() });
                event(out, Some("message_start"), &typed("message_start", json!({ "message": message })));
            }
            Delta::Opened { part, .. } if self.open.is_some() => {
                self.waiting.push_back((*part, vec![delta.clone()]));
            }
            Delta::Opened { .. } => self.apply(delta, out),
            Delta::Text { part, .. } | Delta::Seal { part, .. } | Delta::Closed { part } => {
                if self.open.as_ref().is_some_and(|open| open.part == *part) {
                    self.apply(delta, out);
                    self.advance(out);
                } else if let Some((_, deltas)) = self.waiting.iter_mut().find(|(own, _)| own == part) {
                    deltas.push(delta.clone());
                }
            }
            Delta::Ended => self.end(out),
            Delta::Usage(_) | Delta::Stopped(_) | Delta::Failed(_) | Delta::Garbled(_) => {}
        }
    }

    fn fail(&mut self, error: &ReplyError, counts: Option<Usage>, out: &mut Vec<u8>) {
        if let Some(counts) = counts {
            self.close(out);
            let delta = json!({"stop_reason": null, "stop_sequence": null, "stop_details": null});
            let delta = typed("message_delta", json!({"delta": delta, "usage": usage(counts)}));
            event(out, Some("message_delta"), &delta);
        }
        event(out, Some("error"), &errors::body(error, "messages"));
    }

    fn body(&mut self, reply: &Reply) -> Value {
        self.head = Head::of(&self.front, reply);
        let mut content: Vec<Value> = reply.parts.iter().filter_map(block).collect();
        if content.is_empty() && self.head.stop() == Stop::Ended {
            content.push(json!({"type": "text", "text": ""}));
        }
        let mut message = self.message(&content);
        let (reason, sequence, details) = self.stop();
        message["stop_reason"] = json!(reason);
        message["stop_sequence"] = json!(sequence);
        message["stop_details"] = details;
        let counts = self.head.usage.unwrap_or_default();
        message["usage"] = usage(Usage { input: counts.input.or(Some(0)), ..counts });
        message
    }
}

impl Writer {
    pub(super) fn new(front: Front) -> Self {
        Self { front, head: Head::default(), blocks: 0, open: None, waiting: VecDeque::new() }
    }

    /// Writes the parts that waited, up to the first incomplete one.
    fn advance(&mut self, out: &mut Vec<u8>) {
        while self.open.is_none()
            && let Some((_, deltas)) = self.waiting.pop_front()
        {
            for delta in &deltas {
                self.apply(delta, out);
            }
        }
    }

    /// The delta belongs to the open block, or to the next one.
    fn apply(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Opened { part, kind } => {
                self.open = Some(Block { part: *part, kind: kind.clone(), has_begun: false, seal: None });
                if let PartKind::Call { id, name } = kind {
                    self.begin(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}), out);
                }
            }
            Delta::Text { text, .. } => {
                let Some(kind) = self.open.as_ref().map(|open| open.kind.clone()) else { return };
                let (block, delta) = match kind {
                    PartKind::Text | PartKind::Refusal => {
                        (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
                    }
                    PartKind::Reasoning { .. } => {
                        (thinking(), json!({"type": "thinking_delta", "thinking": text}))
                    }
                    PartKind::Call { .. } => {
                        (Value::Null, json!({"type": "input_json_delta", "partial_json": text}))
                    }
                };
                self.begin(&block, out);
                self.delta(&delta, out);
            }
            Delta::Seal { seal, .. } => {
                if let Some(open) = &mut self.open {
                    open.seal = Some(seal.clone());
                }
            }
            Delta::Closed { .. } => self.close(out),
            _ => {}
        }
    }

    /// The block begins once.
    fn begin(&mut self, block: &Value, out: &mut Vec<u8>) {
        let index = self.blocks;
        if let Some(open) = self.open.as_mut().filter(|open| !open.has_begun) {
            open.has_begun = true;
            let start = json!({"index": index, "content_block": block});
            event(out, Some("content_block_start"), &typed("content_block_start", start));
        }
    }

    fn delta(&self, delta: &Value, out: &mut Vec<u8>) {
        let delta = json!({"index": self.blocks, "delta": delta});
        event(out, Some("content_block_delta"), &typed("content_block_delta", delta));
    }

    /// The signature of thinking is its last delta, if the upstream signed it.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(Block { kind, seal, .. }) = &self.open else { return };
        if let (PartKind::Reasoning { is_redacted, .. }, Some(seal)) = (kind, seal.clone()) {
            if *is_redacted {
                self.begin(&json!({"type": "redacted_thinking", "data": seal}), out);
            } else {
                self.begin(&thinking(), out);
                self.delta(&json!({"type": "signature_delta", "signature": seal}), out);
            }
        }
        if self.open.take().is_some_and(|open| open.has_begun) {
            let stop = typed("content_block_stop", json!({ "index": self.blocks }));
            event(out, Some("content_block_stop"), &stop);
            self.blocks += 1;
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        while self.open.is_some() || !self.waiting.is_empty() {
            self.close(out);
            self.advance(out);
        }
        if self.blocks == 0 && self.head.stop() == Stop::Ended {
            // A message that ends its turn has a block.
            self.open = Some(Block { part: 0, kind: PartKind::Text, has_begun: false, seal: None });
            self.begin(&json!({"type": "text", "text": ""}), out);
            self.close(out);
        }
        let (reason, sequence, details) = self.stop();
        let delta = json!({"stop_reason": reason, "stop_sequence": sequence, "stop_details": details});
        let usage = usage(self.head.usage.unwrap_or_default());
        let delta = typed("message_delta", json!({"delta": delta, "usage": usage}));
        event(out, Some("message_delta"), &delta);
        event(out, Some("message_stop"), &typed("message_stop", json!({})));
    }

    fn stop(&self) -> (&'static str, Option<&str>, Value) {
        let refusal = || json!({"type": "refusal", "category": null, "explanation": null});
        match self.head.stop() {
            Stop::Calls => ("tool_use", None, Value::Null),
            Stop::Cut => ("max_tokens", None, Value::Null),
            Stop::Filtered | Stop::Refused => ("refusal", None, refusal()),
            Stop::Sequence => ("stop_sequence", self.head.stopped.before.as_deref(), Value::Null),
            Stop::Paused => ("pause_turn", None, Value::Null),
            Stop::Ended | Stop::Failed => ("end_turn", None, Value::Null),
        }
    }

    fn message(&self, content: &[Value]) -> Value {
        let Head { tag, model, .. } = &self.head;
        json!({"model": model, "id": format!("msg_{tag}"), "type": "message", "role": "assistant",
            "content": content, "stop_reason": null, "stop_sequence": null, "stop_details": null})
    }
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "", "signature": ""})
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text(text) | Part::Refusal(text) => json!({"type": "text", "text": text}),
        Part::Reasoning(it) if it.is_redacted => {
            json!({"type": "redacted_thinking", "data": it.seal.as_ref()?})
        }
        Part::Reasoning(it) => {
            let signature = it.seal.as_deref().unwrap_or_default();
            json!({"type": "thinking", "thinking": it.text, "signature": signature})
        }
        Part::Call(call) => {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
        Part::Image(_) | Part::Result(_) => return None,
    })
}

/// Input counts exclude cached tokens. A stream leaves unknown counts out.
fn usage(usage: Usage) -> Value {
    let mut counts = json!({ "output_tokens": usage.output.unwrap_or(0) });
    if let Some(input) = usage.input {
        let cached = usage.cached.unwrap_or(0);
        counts["input_tokens"] = json!(input.saturating_sub(cached));
        counts["cache_creation_input_tokens"] = json!(0);
        counts["cache_read_input_tokens"] = json!(cached);
    }
    if let Some(thinking) = usage.reasoning.filter(|count| *count > 0) {
        counts["output_tokens_details"] = json!({ "thinking_tokens": thinking });
    }
    counts
}
