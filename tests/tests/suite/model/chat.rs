//! What chunks of Chat Completions do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::event::Event;
use super::machine::{Model, Objects, Step};

/// The choices and ids of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chat {
    id: Option<String>,
    choices: BTreeMap<u64, Choice>,
}

#[derive(Debug, Clone, Default)]
struct Choice {
    calls: BTreeSet<u64>,
    ids: BTreeSet<String>,
    /// Audio has neither one role nor a reason to finish.
    is_audio: bool,
    is_finished: bool,
}

const fn the(kind: &'static str, does: &'static str) -> Step {
    Step { kind, key: (0, 0), does }
}

/// Returns whether a value is there, and not null or empty.
fn is_told(value: Option<&Value>) -> bool {
    value.is_some_and(|value| {
        !value.is_null() && value != "" && value.as_array().is_none_or(|all| !all.is_empty())
    })
}

impl Model for Chat {
    const API: &'static str = "chat";

    fn steps(&mut self, event: Option<&Event>, objects: &Objects) -> Vec<Step> {
        let Some(event) = event else {
            if objects.get(&("error", (0, 0))) == Some(&"erred") {
                return Vec::new();
            }
            let choices = self.choices.keys().map(|at| Step { kind: "choice", key: (*at, 0), does: "end" });
            return choices.chain([the("stream", "end")]).collect();
        };
        if event.is_marker() {
            return vec![the("stream", "marker")];
        }
        if is_told(event.data.get("error")) {
            return vec![the("stream", "chunk"), the("error", "error")];
        }
        let mut steps = vec![the("stream", "chunk"), the("error", "chunk")];
        if let Some(id) = event.text("/id")
            && self.id.get_or_insert_with(|| id.to_owned()) != id
        {
            steps.push(the("identity", "completion"));
        }
        let choices = event.data.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            self.chose(choice, objects, &mut steps);
        }
        let is_moderation = is_told(event.data.get("moderation"));
        if is_told(event.data.get("usage")) {
            steps.push(the("usage", "usage"));
            if self.choices.is_empty()
                || self.choices.values().any(|choice| !choice.is_finished && !choice.is_audio)
            {
                steps.push(the("usage", "early"));
            }
        } else if !is_moderation && self.choices.values().all(|choice| !choice.is_audio) {
            steps.push(the("usage", "chunk"));
        }
        steps
    }
}

impl Chat {
    fn chose(&mut self, chosen: &Value, objects: &Objects, steps: &mut Vec<Step>) {
        let Some(at) = chosen.get("index").and_then(Value::as_u64) else { return };
        let next = self.choices.len() as u64;
        if !self.choices.contains_key(&at) && at != next {
            steps.push(the("order", "choice"));
        }
        let choice = self.choices.entry(at).or_default();
        let key = (at, 0);
        let mut step = |does| steps.push(Step { kind: "choice", key, does });
        let of_delta = |name| chosen.get("delta").and_then(|delta: &Value| delta.get(name));
        choice.is_audio |= is_told(of_delta("audio"));
        step(if objects.contains_key(&("choice", key)) { "again" } else { "start" });
        let spoken =
            ["content", "refusal", "tool_calls", "function_call", "audio", "reasoning_content", "reasoning"];
        let has_content = spoken.iter().any(|name| is_told(of_delta(name)));
        let is_expiry = chosen.pointer("/delta/audio/expires_at").is_some();
        if has_content && !is_expiry {
            step("content");
        }
        if is_told(of_delta("role")) {
            steps.push(Step { kind: "role", key, does: "told" });
        } else if has_content {
            steps.push(Step { kind: "role", key, does: "untold" });
        }
        let calls = of_delta("tool_calls").and_then(Value::as_array);
        choice.call(at, calls.map_or(&[], Vec::as_slice), steps);
        let has_reason = is_told(chosen.get("finish_reason"));
        if has_reason || is_expiry {
            choice.is_finished = true;
            steps.extend([("role", "end"), ("choice", "finish")].map(|(kind, does)| Step {
                kind,
                key,
                does,
            }));
        }
    }
}

impl Choice {
    fn call(&mut self, choice: u64, calls: &[Value], steps: &mut Vec<Step>) {
        let mut of_chunk = BTreeSet::new();
        for call in calls {
            let Some(at) = call.get("index").and_then(Value::as_u64) else { continue };
            if !of_chunk.insert(at) {
                steps.push(the("order", "twice"));
            }
            let id = call.get("id").filter(|id| is_told(Some(id))).and_then(Value::as_str);
            let name = ["/function/name", "/custom/name"].iter().any(|name| is_told(call.pointer(name)));
            let (key, next) = ((choice, at), self.calls.len() as u64);
            let others = self.calls.iter().filter(|other| **other != at);
            steps.extend(others.map(|other| Step { kind: "call", key: (choice, *other), does: "another" }));
            if self.calls.insert(at) {
                if at != next {
                    steps.push(the("order", "call"));
                }
                match id {
                    None => steps.push(the("identity", "anonymous")),
                    Some(id) if !self.ids.insert(id.to_owned()) => steps.push(the("identity", "unique")),
                    Some(_) => {}
                }
                if !name {
                    steps.push(the("identity", "nameless"));
                }
                steps.push(Step { kind: "call", key, does: "first" });
            } else {
                if id.is_some() {
                    steps.push(the("identity", "id"));
                }
                if name {
                    steps.push(the("identity", "name"));
                }
                steps.push(Step { kind: "call", key, does: "later" });
            }
        }
    }
}
