//! The Responses API.

use serde_json::{Map, Value, json};

use super::super::delta::{Delta, PartKind};
use super::{Front, Head, Writing, event, typed};
use crate::{Reply, ReplyError, Stop, Usage};

/// Writes a response.
#[derive(Debug)]
pub(super) struct Writer {
    front: Front,
    head: Head,
    /// Number of events so far.
    events: u64,
    items: Vec<Item>,
    error: Option<ReplyError>,
}

/// An item of the output.
#[derive(Debug, Clone)]
struct Item {
    part: usize,
    id: String,
    kind: PartKind,
    text: String,
    seal: Option<String>,
    state: State,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// It is complete, unless it turns out to be cut off by the end of the response.
    Closing,
    Completed,
    Incomplete,
}

impl Writing for Writer {
    fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        self.head.note(&self.front, delta);
        match delta {
            Delta::Started { .. } => {
                self.push("response.created", json!({ "response": self.response("in_progress") }), out);
                self.push("response.in_progress", json!({ "response": self.response("in_progress") }), out);
            }
            Delta::Opened { part, kind } => {
                self.close(out);
                self.open(*part, kind, out);
            }
            Delta::Text { part, text } => {
                self.close(out);
                self.text(*part, text, out);
            }
            Delta::Seal { part, seal } => {
                if let Some(item) = self.items.iter_mut().find(|item| item.part == *part) {
                    item.seal = Some(seal.clone());
                }
            }
            Delta::Closed { part } => {
                if let Some(item) = self.items.iter_mut().find(|item| item.part == *part) {
                    item.state = State::Closing;
                }
            }
            Delta::Ended => self.end(out),
            Delta::Usage(_) | Delta::Stopped(_) | Delta::Failed(_) | Delta::Garbled(_) => {}
        }
    }

    fn fail(&mut self, error: &ReplyError, usage: Option<Usage>, out: &mut Vec<u8>) {
        self.error = Some(error.clone());
        let ReplyError { class, message } = error;
        let error = json!({"type": class, "code": code(class), "message": message, "param": null});
        self.push("error", json!({ "error": error }), out);
        let mut response = self.ended();
        response["usage"] = usage.map_or(Value::Null, counts);
        self.push("response.failed", json!({ "response": response }), out);
    }

    fn body(&mut self, reply: &Reply) -> Value {
        for delta in &reply.deltas() {
            self.write(delta, &mut Vec::new());
        }
        self.ended()
    }
}

impl Writer {
    pub(super) fn new(front: Front) -> Self {
        Self { front, head: Head::default(), events: 0, items: Vec::new(), error: None }
    }

    fn open(&mut self, part: usize, kind: &PartKind, out: &mut Vec<u8>) {
        let (index, tag) = (self.items.len(), &self.head.tag);
        let id = match kind {
            PartKind::Text | PartKind::Refusal => format!("msg_{tag}_{index}"),
            PartKind::Reasoning { .. } => format!("rs_{tag}_{index}"),
            PartKind::Call { .. } => format!("fc_{tag}_{index}"),
        };
        let (kind, text, seal) = (kind.clone(), String::new(), None);
        let item = Item { part, id, kind, text, seal, state: State::Open };
        self.push("response.output_item.added", json!({"item": item.value(), "output_index": index}), out);
        // Reasoning need not have a text.
        if !matches!(item.kind, PartKind::Reasoning { .. }) {
            self.open_part(&item, index, out);
        }
        self.items.push(item);
    }

    fn open_part(&mut self, item: &Item, index: usize, out: &mut Vec<u8>) {
        if let Some(event) = item.part_event("added") {
            let mut data = item.place(index);
            data.insert("part".to_owned(), item.part());
            self.push(&event, Value::Object(data), out);
        }
    }

    fn text(&mut self, part: usize, text: &str, out: &mut Vec<u8>) {
        let Some(index) = self.items.iter().position(|item| item.part == part) else { return };
        let is_new = |item: &&Item| matches!(item.kind, PartKind::Reasoning { .. }) && item.text.is_empty();
        if let Some(item) = self.items.get(index).filter(is_new).cloned() {
            self.open_part(&item, index, out);
        }
        let Some(item) = self.items.get_mut(index) else { return };
        item.text.push_str(text);
        let mut data = item.place(index);
        data.insert("delta".to_owned(), json!(text));
        if item.kind == PartKind::Text {
            data.insert("logprobs".to_owned(), json!([]));
        }
        let event = format!("{}.delta", item.event());
        self.push(&event, Value::Object(data), out);
    }

    /// Items are written when they have turned out to be complete.
    fn close(&mut self, out: &mut Vec<u8>) {
        for index in 0..self.items.len() {
            if self.items.get(index).is_some_and(|item| item.state == State::Closing) {
                self.close_item(index, State::Completed, out);
            }
        }
    }

    fn close_item(&mut self, index: usize, state: State, out: &mut Vec<u8>) {
        // A call without arguments has an empty object.
        let is_empty = |item: &&Item| matches!(item.kind, PartKind::Call { .. }) && item.text.is_empty();
        if let Some(part) = self.items.get(index).filter(is_empty).map(|item| item.part)
            && state == State::Completed
        {
            self.text(part, "{}", out);
        }
        let Some(item) = self.items.get_mut(index) else { return };
        item.state = state;
        let (value, mut data, event) = (item.value(), item.place(index), item.event());
        let (whole, part) = (
            item.part(),
            item.part_event("done").filter(|_| item.kind == PartKind::Text || !item.text.is_empty()),
        );
        if part.is_some() || matches!(item.kind, PartKind::Call { .. }) {
            let member = match item.kind {
                PartKind::Call { .. } => "arguments",
                PartKind::Refusal => "refusal",
                PartKind::Text | PartKind::Reasoning { .. } => "text",
            };
            let mut done = data.clone();
            done.insert(member.to_owned(), json!(item.text));
            if item.kind == PartKind::Text {
                done.insert("logprobs".to_owned(), json!([]));
            }
            self.push(&format!("{event}.done"), Value::Object(done), out);
        }
        if let Some(event) = part {
            data.insert("part".to_owned(), whole);
            self.push(&event, Value::Object(data), out);
        }
        self.push("response.output_item.done", json!({"item": value, "output_index": index}), out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let is_cut = matches!(self.head.stop(), Stop::Cut | Stop::Filtered);
        let last = self.items.len().checked_sub(1).filter(|_| is_cut);
        for index in 0..self.items.len() {
            let state = if last == Some(index) { State::Incomplete } else { State::Completed };
            if self.items.get(index).is_some_and(|item| matches!(item.state, State::Open | State::Closing)) {
                self.close_item(index, state, out);
            }
        }
        let response = self.ended();
        let event = format!("response.{}", self.status());
        self.push(&event, json!({ "response": response }), out);
    }

    fn status(&self) -> &'static str {
        match self.head.stop() {
            _ if self.error.is_some() => "failed",
            Stop::Cut | Stop::Filtered => "incomplete",
            Stop::Refused if !self.head.has_refusal => "incomplete",
            Stop::Failed => "failed",
            Stop::Ended | Stop::Sequence | Stop::Calls | Stop::Refused | Stop::Paused => "completed",
        }
    }

    fn ended(&self) -> Value {
        let status = self.status();
        let mut response = self.response(status);
        let is_done = |item: &&Item| !matches!(item.state, State::Open | State::Closing);
        response["output"] = self.items.iter().filter(is_done).map(Item::value).collect();
        if let Some(ReplyError { class, message }) = &self.error {
            response["error"] = json!({"code": code(class), "message": message});
            return response;
        }
        if status == "completed" {
            response["completed_at"] = json!(self.front.now);
        } else {
            let is_cut = self.head.stop() == Stop::Cut;
            response["incomplete_details"] =
                json!({"reason": if is_cut { "max_output_tokens" } else { "content_filter" }});
        }
        if let Some(usage) = self.head.usage {
            response["usage"] = counts(usage);
        }
        response
    }

    /// Returns the response without its output. Its settings repeat the request.
    fn response(&self, status: &str) -> Value {
        let Head { tag, model, .. } = &self.head;
        let mut response = json!({"id": format!("resp_{tag}"), "object": "response", "created_at": self.front.now,
            "status": status, "background": false, "completed_at": null, "error": null, "frequency_penalty": 0.0,
            "incomplete_details": null, "instructions": null, "max_output_tokens": null, "max_tool_calls": null,
            "model": model, "output": [], "parallel_tool_calls": true, "presence_penalty": 0.0,
            "previous_response_id": null, "prompt_cache_key": null, "prompt_cache_retention": "in_memory",
            "reasoning": {"effort": null, "summary": null}, "safety_identifier": null, "service_tier": "default",
            "store": false, "temperature": 1.0, "text": {"format": {"type": "text"}, "verbosity": "medium"},
            "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled",
            "usage": null, "user": null, "metadata": {}});
        for name in REPEATED {
            match self.front.request.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::Object(own)) if ["text", "reasoning"].contains(name) => {
                    if let Some(known) = response[*name].as_object_mut() {
                        known.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
                    }
                }
                Some(value) => response[*name] = value.clone(),
            }
        }
        for tool in response["tools"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            if tool.get("type").is_some_and(|kind| kind == "function") {
                tool.entry("strict").or_insert(json!(true));
                tool.entry("parameters").or_insert(Value::Null);
            }
        }
        response
    }

    fn push(&mut self, kind: &str, data: Value, out: &mut Vec<u8>) {
        let mut data = typed(kind, data);
        data["sequence_number"] = json!(self.events);
        self.events += 1;
        event(out, Some(kind), &data);
    }
}

/// The settings of a request that its response repeats.
const REPEATED: &[&str] = &[
    "frequency_penalty",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

fn counts(usage: Usage) -> Value {
    let [input, output] = [usage.input, usage.output].map(|count| count.unwrap_or(0));
    json!({"input_tokens": input,
        "input_tokens_details": {"cached_tokens": usage.cached.unwrap_or(0), "cache_write_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": usage.reasoning.unwrap_or(0)},
        "total_tokens": input.saturating_add(output)})
}

/// Returns the code of a class of errors. A failed response has few codes.
fn code(class: &str) -> &'static str {
    match class {
        "rate_limit_error" => "rate_limit_exceeded",
        "invalid_request_error" => "invalid_prompt",
        _ => "server_error",
    }
}

impl Item {
    fn value(&self) -> Value {
        let status = match self.state {
            State::Open | State::Closing => "in_progress",
            State::Completed => "completed",
            State::Incomplete => "incomplete",
        };
        let content = || if status == "in_progress" { json!([]) } else { json!([self.part()]) };
        let mut value = match &self.kind {
            PartKind::Text | PartKind::Refusal => {
                json!({"id": self.id, "type": "message", "status": status, "content": content(), "role": "assistant"})
            }
            PartKind::Reasoning { .. } => {
                let summary = if self.text.is_empty() { json!([]) } else { content() };
                json!({"id": self.id, "type": "reasoning", "content": [], "summary": summary})
            }
            PartKind::Call { id, name } => {
                let arguments = if status == "in_progress" { "" } else { &self.text };
                json!({"id": self.id, "type": "function_call", "status": status, "arguments": arguments,
                    "call_id": id, "name": name})
            }
        };
        if let Some(seal) = &self.seal {
            value["encrypted_content"] = json!(seal);
        }
        value
    }

    fn part(&self) -> Value {
        match self.kind {
            PartKind::Refusal => json!({"type": "refusal", "refusal": self.text}),
            PartKind::Reasoning { .. } => json!({"type": "summary_text", "text": self.text}),
            PartKind::Text | PartKind::Call { .. } => {
                json!({"type": "output_text", "annotations": [], "logprobs": [], "text": self.text})
            }
        }
    }

    fn part_event(&self, what: &str) -> Option<String> {
        let event = match self.kind {
            PartKind::Text | PartKind::Refusal => "response.content_part",
            PartKind::Call { .. } => return None,
            PartKind::Reasoning { .. } => "response.reasoning_summary_part",
        };
        Some(format!("{event}.{what}"))
    }

    const fn event(&self) -> &'static str {
        match self.kind {
            PartKind::Text => "response.output_text",
            PartKind::Refusal => "response.refusal",
            PartKind::Reasoning { .. } => "response.reasoning_summary_text",
            PartKind::Call { .. } => "response.function_call_arguments",
        }
    }

    /// The members locate an event about the item's text.
    fn place(&self, index: usize) -> Map<String, Value> {
        let mut place = Map::from_iter([
            ("item_id".to_owned(), json!(self.id)),
            ("output_index".to_owned(), json!(index)),
        ]);
        match self.kind {
            PartKind::Text | PartKind::Refusal => drop(place.insert("content_index".to_owned(), json!(0))),
            PartKind::Reasoning { .. } => drop(place.insert("summary_index".to_owned(), json!(0))),
            PartKind::Call { .. } => {}
        }
        place
    }
}
