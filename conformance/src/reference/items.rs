//! The items of a plan as they are when they are opened and when they are closed, and what happens in
//! between.

use serde_json::{Value, json};
use spec::Scope;
use spec::table::Role;

use super::plan::{Fragments, Item, Part, Plan, Thought};
use super::sample;

/// Something that happens in an item.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) scope: Scope,
    pub(super) role: Role,
    pub(super) phase: Option<&'static str>,
    /// The index of the part, the command, the preview.
    pub(super) index: Option<usize>,
    /// The index of the annotation.
    pub(super) annotation: Option<usize>,
    pub(super) value: Value,
}

/// An item of the output, with all that happens in it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) opened: Value,
    pub(super) closed: Value,
    pub(super) steps: Vec<Step>,
}

/// Numbers for ids: each kind is counted by itself.
#[derive(Debug, Default)]
struct Ids(Vec<(&'static str, usize)>);

impl Ids {
    fn next(&mut self, prefix: &'static str) -> String {
        if let Some((_, count)) = self.0.iter_mut().find(|(other, _)| *other == prefix) {
            *count += 1;
            return format!("{prefix}_{count}");
        }
        self.0.push((prefix, 1));
        format!("{prefix}_1")
    }
}

/// All items of a plan.
pub(super) fn entries(plan: &Plan) -> Vec<Entry> {
    let mut ids = Ids::default();
    let mut entries = Vec::new();
    for item in &plan.items {
        match item {
            Item::Shell(commands) => entries.extend(shell(commands, &mut ids)),
            item => entries.push(entry(item, &mut ids, plan.has_logprobs)),
        }
    }
    if let (super::plan::Ending::Incomplete(_), Some(last)) = (plan.ending, entries.last_mut()) {
        if last.closed.get("status").is_some() {
            last.closed["status"] = json!("incomplete");
        }
    }
    entries
}

#[derive(Default)]
struct Steps(Vec<Step>);

impl Steps {
    fn add(&mut self, scope: Scope, role: Role, index: Option<usize>, value: Value) {
        self.0.push(Step { scope, role, phase: None, index, annotation: None, value });
    }

    fn phase(&mut self, scope: Scope, phase: &'static str) {
        let role = Role::Phase;
        self.0.push(Step {
            scope,
            role,
            phase: Some(phase),
            index: None,
            annotation: None,
            value: Value::Null,
        });
    }

    /// Fragments, and the whole.
    fn text(&mut self, scope: Scope, index: Option<usize>, text: &Fragments) {
        for fragment in text {
            self.add(scope, Role::Delta, index, json!(fragment));
        }
        self.add(scope, Role::Final, index, json!(text.concat()));
    }
}

fn entry(item: &Item, ids: &mut Ids, has_logprobs: bool) -> Entry {
    let mut steps = Steps::default();
    let (opened, closed) = match item {
        Item::Message(parts) => {
            let id = ids.next("msg");
            let content = message(parts, &mut steps, has_logprobs);
            let with = |status: &str, content: Value| json!({"id": id, "type": "message", "status": status, "content": content, "role": "assistant"});
            (with("in_progress", json!([])), with("completed", content))
        }
        Item::Reasoning(thought) => reasoning(thought, ids.next("rs"), &mut steps),
        Item::Function { name, arguments } => {
            steps.text(Scope::Arguments, None, arguments);
            let (id, call) = (ids.next("fc"), ids.next("call"));
            let with = |status: &str, arguments: &str| json!({"id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": call, "name": name});
            (with("in_progress", ""), with("completed", &arguments.concat()))
        }
        Item::Custom { name, input } => {
            steps.text(Scope::CustomToolInput, None, input);
            let (id, call) = (ids.next("ctc"), ids.next("call"));
            let with = |status: &str, input: &str| json!({"id": id, "type": "custom_tool_call", "status": status, "call_id": call, "input": input, "name": name});
            (with("in_progress", ""), with("completed", &input.concat()))
        }
        Item::WebSearch(query) => {
            let id = ids.next("ws");
            for phase in ["in_progress", "searching", "completed"] {
                steps.phase(Scope::WebSearch, phase);
            }
            let with = |status: &str, action: Value| json!({"id": id, "type": "web_search_call", "status": status, "action": action});
            let action = json!({"type": "search", "queries": [query], "query": query});
            (with("in_progress", json!({"type": "search"})), with("completed", action))
        }
        Item::FileSearch(query) => {
            let id = ids.next("fs");
            for phase in ["in_progress", "searching", "completed"] {
                steps.phase(Scope::FileSearch, phase);
            }
            let with = |status: &str, queries: Value| json!({"id": id, "type": "file_search_call", "status": status, "queries": queries, "results": null});
            (with("in_progress", json!([])), with("completed", json!([query])))
        }
        Item::Code(code, logs) => {
            let id = ids.next("ci");
            steps.phase(Scope::CodeInterpreter, "in_progress");
            steps.text(Scope::Code, None, code);
            steps.phase(Scope::CodeInterpreter, "interpreting");
            steps.phase(Scope::CodeInterpreter, "completed");
            let with = |status: &str, code: &str, outputs: Value| json!({"id": id, "type": "code_interpreter_call", "status": status, "code": code, "container_id": "cntr_1", "outputs": outputs});
            let outputs = json!([{"type": "logs", "logs": logs}]);
            (with("in_progress", "", Value::Null), with("completed", &code.concat(), outputs))
        }
        Item::Image(previews) => {
            let id = ids.next("ig");
            steps.phase(Scope::ImageGeneration, "in_progress");
            steps.phase(Scope::ImageGeneration, "generating");
            for index in 0..*previews {
                steps.add(Scope::PartialImage, Role::Point, Some(index), json!(sample::IMAGE));
            }
            steps.phase(Scope::ImageGeneration, "completed");
            (
                json!({"id": id, "type": "image_generation_call", "status": "in_progress"}),
                json!({"id": id, "type": "image_generation_call", "status": "completed", "result": sample::IMAGE}),
            )
        }
        Item::McpTools { server, fails } => {
            steps.phase(Scope::McpListTools, "in_progress");
            steps.phase(Scope::McpListTools, if *fails { "failed" } else { "completed" });
            let opened = json!({"id": ids.next("mcpl"), "type": "mcp_list_tools", "server_label": server, "tools": []});
            let mut closed = opened.clone();
            if *fails {
                closed["error"] = json!("The server did not answer");
            } else {
                closed["tools"] = json!([{"annotations": {"read_only": true}, "description": "Search the notes",
                    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
                    "name": "search_notes"}]);
            }
            (opened, closed)
        }
        Item::McpCall { server, arguments, fails } => {
            let id = ids.next("mcp");
            steps.phase(Scope::McpCall, "in_progress");
            steps.text(Scope::McpArguments, None, arguments);
            steps.phase(Scope::McpCall, if *fails { "failed" } else { "completed" });
            let opened = json!({"id": id, "type": "mcp_call", "status": "in_progress", "approval_request_id": null,
                "arguments": "", "error": null, "name": "search_notes", "output": null, "server_label": server});
            let mut closed = opened.clone();
            closed["arguments"] = json!(arguments.concat());
            closed["status"] = json!(if *fails { "failed" } else { "completed" });
            if *fails {
                closed["error"] = json!({"type": "http_error", "code": 504, "message": "Gateway timeout"});
            } else {
                closed["output"] = json!("One note: Migration");
            }
            (opened, closed)
        }
        Item::Patch(diff) => {
            let (id, call) = (ids.next("apc"), ids.next("call"));
            steps.text(Scope::Diff, None, diff);
            let with = |status: &str, diff: &str| {
                json!({"id": id, "type": "apply_patch_call", "status": status, "call_id": call,
                "operation": {"type": "update_file", "diff": diff, "path": "notes.txt"}})
            };
            (with("in_progress", ""), with("completed", &diff.concat()))
        }
        Item::Shell(_) => unreachable!("a shell call makes two entries"),
    };
    Entry { opened, closed, steps: steps.0 }
}

fn message(parts: &[Part], steps: &mut Steps, has_logprobs: bool) -> Value {
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

/// The probabilities of a text's tokens: every fragment is one.
pub(super) fn logprobs(text: &[String]) -> Value {
    let one = |token: &String| {
        let bytes = token.as_bytes();
        json!({"token": token, "logprob": -0.1, "bytes": bytes,
            "top_logprobs": [{"token": token, "logprob": -0.1, "bytes": bytes}]})
    };
    text.iter().map(one).collect()
}

fn reasoning(thought: &Thought, id: String, steps: &mut Steps) -> (Value, Value) {
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

fn shell(commands: &[(Fragments, String)], ids: &mut Ids) -> [Entry; 2] {
    let (id, call, output) = (ids.next("sh"), ids.next("call"), ids.next("sho"));
    let (mut asked, mut done) = (Steps::default(), Steps::default());
    for (index, (command, printed)) in commands.iter().enumerate() {
        asked.add(Scope::ShellCommand, Role::Open, Some(index), json!(""));
        asked.text(Scope::ShellCommand, Some(index), command);
        done.add(Scope::ShellOutput, Role::Delta, Some(index), json!({"stdout": printed}));
        done.add(Scope::ShellOutput, Role::Final, Some(index), json!([outcome(printed)]));
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
        Entry { opened: asks("in_progress", json!([])), closed: asks("completed", texts), steps: asked.0 },
        Entry {
            opened: prints("in_progress", json!([])),
            closed: prints("completed", outcomes),
            steps: done.0,
        },
    ]
}

fn outcome(printed: &str) -> Value {
    json!({"outcome": {"type": "exit", "exit_code": 0}, "stderr": "", "stdout": printed})
}
