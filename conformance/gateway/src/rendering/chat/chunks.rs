//! Conversion of plans to chunks and completions.

use std::ops::Range;

use serde_json::{Value, json};
use spec::table::Marker;
use spec::{Dialect, Scope};

use crate::content::plan::{Ending, Fragments, Item, Part, ResponsePlan, Thought};
use crate::content::problem::Problem;
use crate::content::text;
use crate::rendering::RenderedResponse;

/// The time of completions.
const CREATED: u64 = 1_785_000_000;
/// The fingerprint of the system.
const FINGERPRINT: &str = "fp_1";

pub(in crate::rendering) fn problem(problem: &Problem) -> Value {
    let Problem { kind, code, message, param, .. } = problem;
    let kind = if *kind == "too_many_requests" { "rate_limit_error" } else { kind };
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

pub(in crate::rendering) fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    _seed: u64,
) -> RenderedResponse {
    let completion = Completion { request, plan, reasoning: reasoning_member(dialect) };
    let mut events = completion.stream();
    if dialect.framing.done != Marker::Forbidden {
        events.push("data: [DONE]\n\n".to_owned());
    }
    let (status, body) = match plan.ending {
        Ending::Failed(_) => (500, failure()),
        _ => (200, completion.body()),
    };
    RenderedResponse { events, snapshots: [body.clone(), body.clone(), body], status }
}

fn reasoning_member(dialect: &Dialect) -> Option<&'static str> {
    let effect = dialect.effects().find(|effect| effect.scope == Scope::Reasoning)?;
    effect.value?.rsplit('/').next()
}

fn failure() -> Value {
    json!({"error": {"message": "The server had an error while processing the request.", "type": "server_error",
        "param": null, "code": "server_error"}})
}

struct Completion<'p> {
    request: &'p Value,
    plan: &'p ResponsePlan,
    /// The member that has the reasoning, if it is shown.
    reasoning: Option<&'static str>,
}

/// A delta of a choice, with its log probabilities.
type Delta = (Value, Option<Value>);

impl Completion<'_> {
    fn model(&self) -> &str {
        text(self.request, "model").unwrap_or("reference-1")
    }

    fn choices(&self) -> Range<usize> {
        0..self.plan.choices.max(1)
    }

    fn counts_usage(&self) -> bool {
        self.request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true))
    }

    fn stream(&self) -> Vec<String> {
        let choices: Vec<Vec<Delta>> = self.choices().map(|choice| self.deltas(choice)).collect();
        let length = choices.first().map_or(0, Vec::len);
        let sent = match self.plan.ending {
            Ending::Failed(after) => length.min(after + 1),
            _ => length,
        };
        let mut events = Vec::new();
        for at in 0..sent {
            for (index, deltas) in choices.iter().enumerate() {
                let delta = deltas.get(at);
                events
                    .extend(delta.map(|(delta, logprobs)| self.chunk(index, delta, logprobs.as_ref(), None)));
            }
        }
        if matches!(self.plan.ending, Ending::Failed(_)) {
            events.push(written(&failure()));
            return events;
        }
        for index in self.choices() {
            events.push(self.chunk(index, &json!({}), None, Some(self.finish_reason())));
        }
        if self.counts_usage() {
            let mut last = self.head("chat.completion.chunk", None);
            last["choices"] = json!([]);
            last["usage"] = self.usage();
            self.pad(&mut last);
            events.push(written(&last));
        }
        events
    }

    fn head(&self, object: &str, fingerprint: Option<&str>) -> Value {
        json!({"id": "chatcmpl-1", "object": object, "created": CREATED, "model": self.model(),
            "service_tier": "default", "system_fingerprint": fingerprint})
    }

    fn chunk(&self, index: usize, delta: &Value, logprobs: Option<&Value>, finish: Option<&str>) -> String {
        let mut chunk = self.head("chat.completion.chunk", None);
        chunk["choices"] =
            json!([{"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}]);
        if self.counts_usage() {
            chunk["usage"] = Value::Null;
        }
        self.pad(&mut chunk);
        written(&chunk)
    }

    fn call_id(&self, choice: usize, number: usize) -> String {
        let calls = self.plan.items.iter().filter(|item| matches!(item, Item::Function { .. })).count();
        format!("call_{}", choice * calls + number + 1)
    }

    fn pad(&self, chunk: &mut Value) {
        if self.plan.is_obfuscated {
            chunk["obfuscation"] = json!("aZ");
        }
    }

    /// The first delta has the role, and the beginning of what follows.
    fn deltas(&self, choice: usize) -> Vec<Delta> {
        let mut deltas: Vec<Delta> = Vec::new();
        let mut calls = 0;
        for item in &self.plan.items {
            match item {
                Item::Message(parts) => {
                    for part in parts {
                        self.part(part, &mut deltas);
                    }
                }
                Item::Reasoning(thought) => {
                    if let Some(member) = self.reasoning {
                        deltas.extend(visible(thought).map(|words| (json!({ member: words }), None)));
                    }
                }
                Item::Function { name, arguments } => {
                    let call = |with: Value| (json!({ "tool_calls": [with] }), None);
                    deltas.push(call(
                        json!({"index": calls, "id": self.call_id(choice, calls), "type": "function",
                        "function": {"name": name, "arguments": ""}}),
                    ));
                    for fragment in arguments {
                        deltas.push(call(json!({"index": calls, "function": {"arguments": fragment}})));
                    }
                    calls += 1;
                }
                _ => {}
            }
        }
        Self::open(deltas)
    }

    fn part(&self, part: &Part, deltas: &mut Vec<Delta>) {
        let (member, words) = said(part);
        for fragment in words {
            let is_weighed = self.plan.has_logprobs && member == "content";
            let logprobs = is_weighed.then(|| json!({"content": [logprob(fragment)], "refusal": null}));
            deltas.push((json!({ member: fragment }), logprobs));
        }
    }

    /// The role is in the first delta if that is a call, or else in a delta of its own.
    fn open(mut deltas: Vec<Delta>) -> Vec<Delta> {
        let of_first = |name: &str| deltas.first().and_then(|(delta, _)| delta.get(name).cloned());
        if let Some(calls) = of_first("tool_calls") {
            let opened = json!({"role": "assistant", "content": null, "tool_calls": calls, "refusal": null});
            if let Some((first, _)) = deltas.first_mut() {
                *first = opened;
            }
            return deltas;
        }
        let opened = if of_first("refusal").is_some() {
            json!({"role": "assistant", "content": null, "refusal": ""})
        } else {
            json!({"role": "assistant", "content": "", "refusal": null})
        };
        deltas.insert(0, (opened, None));
        deltas
    }

    fn finish_reason(&self) -> &'static str {
        let has_calls = self.plan.items.iter().any(|item| matches!(item, Item::Function { .. }));
        // A call that was forced by its name ends a turn like any text.
        let is_forced = self.request.get("tool_choice").is_some_and(Value::is_object);
        match self.plan.ending {
            Ending::Incomplete("content_filter") => "content_filter",
            Ending::Incomplete(_) => "length",
            _ if has_calls && !is_forced => "tool_calls",
            _ => "stop",
        }
    }

    fn body(&self) -> Value {
        let choices: Vec<Value> = self.choices().map(|index| self.choice(index)).collect();
        let mut body = self.head("chat.completion", Some(FINGERPRINT));
        body["choices"] = Value::from(choices);
        body["usage"] = self.usage();
        body
    }

    fn choice(&self, index: usize) -> Value {
        let mut message = json!({"role": "assistant", "content": null, "refusal": null, "annotations": []});
        let (mut tokens, mut calls) = (Vec::new(), Vec::new());
        for item in &self.plan.items {
            match item {
                Item::Message(parts) => {
                    for part in parts {
                        let (member, words) = said(part);
                        let before = text(&message, member).unwrap_or_default().to_owned();
                        message[member] = json!(before + &words.concat());
                        tokens.extend(if member == "content" { words.as_slice() } else { &[] });
                    }
                }
                Item::Reasoning(thought) => {
                    if let Some(member) = self.reasoning {
                        message[member] = json!(visible(thought).map(String::as_str).collect::<String>());
                    }
                }
                Item::Function { name, arguments } => {
                    calls.push(json!({"id": self.call_id(index, calls.len()), "type": "function",
                        "function": {"name": name, "arguments": arguments.concat()}}));
                }
                _ => {}
            }
        }
        if !calls.is_empty() {
            message["tool_calls"] = Value::from(calls);
        }
        let logprobs = self.plan.has_logprobs.then(|| {
            let content: Vec<Value> = tokens.iter().map(|token| logprob(token)).collect();
            json!({"content": content, "refusal": null})
        });
        json!({"index": index, "message": message, "logprobs": logprobs, "finish_reason": self.finish_reason()})
    }

    fn usage(&self) -> Value {
        let choices = u64::try_from(self.choices().len()).unwrap_or(1);
        let (input, output) = (self.plan.input_tokens, self.plan.output_tokens() * choices);
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": self.plan.read_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": self.plan.reasoning_tokens() * choices,
                "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}})
    }
}

/// The member for a part of a message, and its words.
const fn said(part: &Part) -> (&'static str, &Fragments) {
    match part {
        Part::Text(words, _) => ("content", words),
        Part::Refusal(words) => ("refusal", words),
    }
}

fn visible(thought: &Thought) -> impl Iterator<Item = &String> {
    let summary: Option<&Fragments> = thought.summary.first();
    thought.text.as_ref().or(summary).into_iter().flatten()
}

fn logprob(token: &str) -> Value {
    json!({"token": token, "logprob": -0.1, "bytes": token.as_bytes(), "top_logprobs": []})
}

fn written(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}
