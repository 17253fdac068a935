//! Chat Completions.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spec::Scope;

use super::super::delta::{Delta, PartKind};
use super::{Front, Head, Writing, errors, event};
use crate::{Part, Reply, ReplyError, Stop, Usage};

/// Writes a completion.
#[derive(Debug)]
pub(super) struct Writer {
    front: Front,
    head: Head,
    parts: BTreeMap<usize, Piece>,
    calls: u64,
}

/// Where the text of a part goes.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Member(&'static str),
    /// A call with this index, and whether it has arguments.
    Call(u64, bool),
}

impl Writing for Writer {
    fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        self.head.note(&self.front, delta);
        match delta {
            Delta::Started { .. } => {
                self.chunk(&json!({"role": "assistant", "content": "", "refusal": null}), None, out);
            }
            Delta::Opened { part, kind } => {
                let piece = match kind {
                    PartKind::Text => Piece::Member("content"),
                    PartKind::Refusal => Piece::Member("refusal"),
                    PartKind::Reasoning { .. } => Piece::Member(self.reasoning()),
                    PartKind::Call { id, name } => {
                        let index = self.calls;
                        self.calls += 1;
                        let call = json!({"index": index, "id": id, "type": "function",
                            "function": {"name": name, "arguments": ""}});
                        self.chunk(&json!({ "tool_calls": [call] }), None, out);
                        Piece::Call(index, false)
                    }
                };
                self.parts.insert(*part, piece);
            }
            Delta::Text { part, text } => match self.parts.get_mut(part) {
                Some(Piece::Member(member)) => {
                    let delta = json!({ *member: text });
                    self.chunk(&delta, None, out);
                }
                Some(Piece::Call(index, has_arguments)) => {
                    *has_arguments = true;
                    let delta = arguments(*index, text);
                    self.chunk(&delta, None, out);
                }
                None => {}
            },
            Delta::Closed { part } => self.close(*part, out),
            Delta::Ended => {
                // Where the API does not close its calls, the end does.
                let parts: Vec<usize> = self.parts.keys().copied().collect();
                for part in parts {
                    self.close(part, out);
                }
                self.chunk(&json!({}), Some(self.finish_reason()), out);
                if let Some(usage) = self.head.usage.filter(|_| self.counts_usage()) {
                    self.usage(usage, out);
                }
                out.extend_from_slice(DONE);
            }
            Delta::Seal { .. }
            | Delta::Usage(_)
            | Delta::Stopped(_)
            | Delta::Failed(_)
            | Delta::Garbled(_) => {}
        }
    }

    fn fail(&mut self, error: &ReplyError, usage: Option<Usage>, out: &mut Vec<u8>) {
        if let Some(usage) = usage {
            self.usage(usage, out);
        }
        event(out, None, &errors::body(error, "chat"));
        out.extend_from_slice(DONE);
    }

    fn body(&mut self, reply: &Reply) -> Value {
        self.head = Head::of(&self.front, reply);
        let join = |of: fn(&Part) -> Option<&str>| {
            let texts: Vec<&str> = reply.parts.iter().filter_map(of).collect();
            if texts.is_empty() { Value::Null } else { json!(texts.concat()) }
        };
        let text = join(|part| if let Part::Text(text) = part { Some(text) } else { None });
        let refusal = join(|part| if let Part::Refusal(text) = part { Some(text) } else { None });
        let reasoning = join(|part| if let Part::Reasoning(it) = part { Some(&it.text) } else { None });
        let mut message =
            json!({"role": "assistant", "content": text, "refusal": refusal, "annotations": []});
        if !reasoning.is_null() {
            message[self.reasoning()] = reasoning;
        }
        let calls: Vec<Value> = reply.parts.iter().filter_map(call).collect();
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let mut body = self.object("chat.completion");
        body["choices"] = json!([{"index": 0, "message": message, "logprobs": null,
            "finish_reason": self.finish_reason()}]);
        if let Some(usage) = self.head.usage {
            body["usage"] = counts(usage);
        }
        body
    }
}

impl Writer {
    pub(super) fn new(front: Front) -> Self {
        Self { front, head: Head::default(), parts: BTreeMap::new(), calls: 0 }
    }

    fn usage(&self, usage: Usage, out: &mut Vec<u8>) {
        let mut last = self.object("chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = counts(usage);
        event(out, None, &last);
    }

    /// A call without arguments has an empty object.
    fn close(&mut self, part: usize, out: &mut Vec<u8>) {
        let is_cut = self.head.stop() == Stop::Cut;
        if let Some(Piece::Call(index, false)) = self.parts.remove(&part).filter(|_| !is_cut) {
            self.chunk(&arguments(index, "{}"), None, out);
        }
    }

    /// OpenAI has none; other vendors use this name.
    fn reasoning(&self) -> &'static str {
        let effect = self.front.dialect.effects().find(|effect| effect.scope == Scope::Reasoning);
        effect.and_then(|effect| effect.value?.rsplit('/').next()).unwrap_or("reasoning_content")
    }

    fn counts_usage(&self) -> bool {
        self.front.request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true))
    }

    fn object(&self, object: &str) -> Value {
        let Head { tag, model, .. } = &self.head;
        json!({"id": format!("chatcmpl-{tag}"), "object": object, "created": self.front.now, "model": model})
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>, out: &mut Vec<u8>) {
        let mut chunk = self.object("chat.completion.chunk");
        chunk["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        if self.counts_usage() {
            chunk["usage"] = Value::Null;
        }
        event(out, None, &chunk);
    }

    fn finish_reason(&self) -> &'static str {
        match self.head.stop() {
            // A call that the request names ends with `stop`.
            Stop::Calls if self.is_forced() => "stop",
            Stop::Calls => "tool_calls",
            Stop::Cut => "length",
            Stop::Filtered => "content_filter",
            Stop::Refused if !self.head.has_refusal => "content_filter",
            Stop::Ended | Stop::Sequence | Stop::Refused | Stop::Paused | Stop::Failed => "stop",
        }
    }

    fn is_forced(&self) -> bool {
        self.front.request.pointer("/tool_choice/function").is_some()
    }
}

const DONE: &[u8] = b"data: [DONE]\n\n";

fn arguments(index: u64, text: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
}

fn call(part: &Part) -> Option<Value> {
    let Part::Call(call) = part else { return None };
    let arguments = if call.arguments.is_empty() { "{}" } else { &call.arguments };
    Some(json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}))
}

fn counts(usage: Usage) -> Value {
    let [input, output] = [usage.input, usage.output].map(|count| count.unwrap_or(0));
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": {"cached_tokens": usage.cached.unwrap_or(0), "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning.unwrap_or(0), "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}})
}
