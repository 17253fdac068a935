//! Events within messages, reasoning and shell calls.

use serde_json::{Value, json};
use spec::Scope;
use spec::table::Role;

use super::steps::{Entry, Ids, Steps};
use crate::content::plan::{Fragments, Part, Thought};

pub(super) fn message(parts: &[Part], steps: &mut Steps, has_logprobs: bool) -> Value {
    let mut content = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let at = Some(index);
        let (opened, closed) = match part {
            Part::Refusal(text) => {
                let with = |text: &str| json!({"type": "refusal", "refusal": text});
                steps.add(Scope::Part, Role::Open, at, with(""));
                steps.text(Scope::Refusal, at, text);
                content.push(with(&text.concat()));
                steps.add(Scope::Part, Role::Close, at, with(&text.concat()));
                continue;
            }
            Part::Text(text, annotations) => {
                let logprobs = if has_logprobs { logprobs(text) } else { json!([]) };
                let with = |annotations: Value, logprobs: Value, text: &str| json!({"type": "output_text", "annotations": annotations, "logprobs": logprobs, "text": text});
                (with(json!([]), json!([]), ""), with(json!(annotations), logprobs, &text.concat()))
            }
        };
        steps.add(Scope::Part, Role::Open, at, opened);
        if let Part::Text(text, annotations) = part {
            for (number, fragment) in text.iter().enumerate() {
                if number + 1 == text.len() {
                    annotate(annotations, at, steps);
                }
                steps.add(Scope::Text, Role::Delta, at, json!(fragment));
            }
            if text.is_empty() {
                annotate(annotations, at, steps);
            }
            steps.add(Scope::Text, Role::Final, at, json!(text.concat()));
        }
        content.push(closed.clone());
        steps.add(Scope::Part, Role::Close, at, closed);
    }
    Value::Array(content)
}

fn annotate(annotations: &[Value], index: Option<usize>, steps: &mut Steps) {
    for (number, annotation) in annotations.iter().enumerate() {
        steps.add(Scope::Annotation, Role::Point, index, annotation.clone());
        if let Some(step) = steps.0.last_mut() {
            step.annotation = Some(number);
        }
    }
}

pub(super) fn logprobs(text: &[String]) -> Value {
    let one = |token: &String| {
        let bytes = token.as_bytes();
        json!({"token": token, "logprob": -0.1, "bytes": bytes,
            "top_logprobs": [{"token": token, "logprob": -0.1, "bytes": bytes}]})
    };
    text.iter().map(one).collect()
}

pub(super) fn reasoning(thought: &Thought, id: &str, steps: &mut Steps) -> (Value, Value) {
    let opened = json!({"id": id, "type": "reasoning", "content": [], "summary": []});
    let mut closed = opened.clone();
    for (index, text) in thought.summary.iter().enumerate() {
        let with = |text: &str| json!({"type": "summary_text", "text": text});
        steps.add(Scope::SummaryPart, Role::Open, Some(index), with(""));
        steps.text(Scope::SummaryText, Some(index), text);
        steps.add(Scope::SummaryPart, Role::Close, Some(index), with(&text.concat()));
    }
    closed["summary"] =
        thought.summary.iter().map(|text| json!({"type": "summary_text", "text": text.concat()})).collect();
    if let Some(text) = &thought.text {
        let with = |text: &str| json!({"type": "reasoning_text", "text": text});
        steps.add(Scope::Part, Role::Open, Some(0), with(""));
        steps.text(Scope::ReasoningText, Some(0), text);
        steps.add(Scope::Part, Role::Close, Some(0), with(&text.concat()));
        closed["content"] = json!([with(&text.concat())]);
    }
    if thought.is_encrypted {
        closed["encrypted_content"] = json!("gAAAAABoXw3kV9cJ0mWJb7yQ5l1uV8v2=");
    }
    (opened, closed)
}

pub(super) fn shell(commands: &[(Fragments, String)], ids: &mut Ids) -> [Entry; 2] {
    let (id, call, output) = (ids.next("sh"), ids.next("call"), ids.next("sho"));
    let (mut calls, mut results) = (Steps::default(), Steps::default());
    for (index, (command, printed)) in commands.iter().enumerate() {
        calls.add(Scope::ShellCommand, Role::Open, Some(index), json!(""));
        calls.text(Scope::ShellCommand, Some(index), command);
        results.add(Scope::ShellOutput, Role::Delta, Some(index), json!({"stdout": printed}));
        results.add(Scope::ShellOutput, Role::Final, Some(index), json!([outcome(printed)]));
    }
    let asks = |status: &str, commands: Value| {
        json!({"id": id, "type": "shell_call", "status": status,
        "action": {"commands": commands, "max_output_length": null, "timeout_ms": null}, "call_id": call,
        "environment": {"type": "container_reference", "container_id": "cntr_1"}})
    };
    let prints = |status: &str, output_of: Value| {
        json!({"id": output, "type": "shell_call_output", "status": status,
        "call_id": call, "max_output_length": null, "output": output_of})
    };
    let texts = commands.iter().map(|(command, _)| json!(command.concat())).collect();
    let outcomes = commands.iter().map(|(_, printed)| outcome(printed)).collect();
    [
        Entry { opened: asks("in_progress", json!([])), closed: asks("completed", texts), steps: calls.0 },
        Entry {
            opened: prints("in_progress", json!([])),
            closed: prints("completed", outcomes),
            steps: results.0,
        },
    ]
}

fn outcome(printed: &str) -> Value {
    json!({"outcome": {"type": "exit", "exit_code": 0}, "stderr": "", "stdout": printed})
}
