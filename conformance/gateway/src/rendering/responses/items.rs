//! The items of a plan when they are opened and closed, and the steps in between.

use serde_json::{Value, json};
use spec::Scope;
use spec::table::Role;

use super::parts::{message, reasoning, shell};
use super::steps::{Entry, Ids, Steps};
use crate::content::plan::{Ending, Item, ResponsePlan};
use crate::content::sample;

pub(super) fn entries(plan: &ResponsePlan) -> Vec<Entry> {
    let mut ids = Ids::default();
    let mut entries = Vec::new();
    for item in &plan.items {
        match item {
            Item::Shell(commands) => entries.extend(shell(commands, &mut ids)),
            item => entries.push(entry(item, &mut ids, plan.has_logprobs)),
        }
    }
    let is_cut = matches!(plan.ending, Ending::Incomplete(_));
    if let Some(status) = entries.last_mut().filter(|_| is_cut).and_then(|last| last.closed.get_mut("status"))
    {
        *status = json!("incomplete");
    }
    entries
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
        Item::Reasoning(thought) => reasoning(thought, &ids.next("rs"), &mut steps),
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
        Item::McpTools { server, tools, fails } => {
            steps.phase(Scope::McpListTools, "in_progress");
            steps.phase(Scope::McpListTools, if *fails { "failed" } else { "completed" });
            let opened = json!({"id": ids.next("mcpl"), "type": "mcp_list_tools", "server_label": server, "tools": []});
            let mut closed = opened.clone();
            if *fails {
                closed["error"] = json!("The server did not answer");
            } else {
                closed["tools"] = json!(tools);
            }
            (opened, closed)
        }
        Item::McpCall { server, name, output, arguments, fails } => {
            let id = ids.next("mcp");
            steps.phase(Scope::McpCall, "in_progress");
            steps.text(Scope::McpArguments, None, arguments);
            steps.phase(Scope::McpCall, if *fails { "failed" } else { "completed" });
            let opened = json!({"id": id, "type": "mcp_call", "status": "in_progress", "approval_request_id": null,
                "arguments": "", "error": null, "name": name, "output": null, "server_label": server});
            let mut closed = opened.clone();
            closed["arguments"] = json!(arguments.concat());
            closed["status"] = json!(if *fails { "failed" } else { "completed" });
            if *fails {
                closed["error"] = json!({"type": "http_error", "code": 504, "message": "Gateway timeout"});
            } else {
                closed["output"] = json!(output);
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
        Item::Compaction(content) => {
            let item = json!({"id": ids.next("cmp"), "type": "compaction", "encrypted_content": content});
            steps.add(Scope::Item, Role::Point, None, Value::Null);
            (item.clone(), item)
        }
        Item::Shell(_) => unreachable!("a shell call makes two entries"),
    };
    Entry { opened, closed, steps: steps.0 }
}
