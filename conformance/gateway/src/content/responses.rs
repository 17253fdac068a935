//! Conversion of requests of the Responses API to plans.

use serde_json::{Value, json};
use spec::Dialect;

use super::ask::{Ask, word_after};
use super::plan::{Item, Part, ResponsePlan, Thought};
use super::{sample, text};
use recordings::capture::base64_of;

pub(crate) fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let input = Ask::read(request, dialect.api);
    let directives = input.directives();
    let input_tokens = directives.input_tokens().unwrap_or_else(|| input.tokens());
    let mut plan = directives.plan;
    plan.input_tokens = input_tokens;
    plan.is_routed = text(request, "model") == Some("auto");
    plan.is_background = request.get("background") == Some(&Value::Bool(true));
    let includes = |name: &str| {
        request.get("include").and_then(Value::as_array).is_some_and(|all| all.iter().any(|it| it == name))
    };
    let top = request.get("top_logprobs").and_then(Value::as_u64).unwrap_or(0);
    plan.has_logprobs = includes("message.output_text.logprobs") || top > 0;
    let pads = dialect.render.pads
        && request.pointer("/stream_options/include_obfuscation") != Some(&Value::Bool(false));
    plan.is_obfuscated |= pads;
    if input.is_trigger && dialect.event("response.compaction.compacting").is_some() {
        plan.items = vec![Item::Compaction(compacted(request))];
    }
    if plan.items.is_empty() {
        let encrypts = includes("reasoning.encrypted_content");
        plan.items.extend(reasoning(request, dialect, encrypts).map(Item::Reasoning));
        let calls = calls(request, &input);
        let needs_words =
            calls.iter().all(|call| !matches!(call, Item::Function { .. } | Item::Custom { .. }));
        plan.items.extend(calls);
        if needs_words {
            plan.items.push(Item::Message(vec![Part::Text(input.words(seed), Vec::new())]));
        }
    }
    plan.limit_as(request, dialect.api);
    plan
}

/// Only this gateway can read the form of the conversation.
fn compacted(request: &Value) -> String {
    let said = request.get("input").map(Value::to_string).unwrap_or_default();
    base64_of(said.as_bytes())
}

fn reasoning(request: &Value, dialect: &Dialect, is_encrypted: bool) -> Option<Thought> {
    let reasoning = request.get("reasoning")?;
    let effort = text(reasoning, "effort").is_some_and(|effort| effort != "none");
    let wants_summary = text(reasoning, "summary").is_some();
    if !effort && !wants_summary {
        return None;
    }
    let mut thought = Thought { is_encrypted, ..Thought::default() };
    if wants_summary {
        thought.summary.push(vec!["**Reading".to_owned(), "**\n\nWhat is asked is clear.".to_owned()]);
        thought.summary.push(vec!["**Answering".to_owned(), "**\n\nA few words will do.".to_owned()]);
    } else if dialect.event("response.reasoning.delta").is_some() {
        thought.text = Some(vec!["A few words".to_owned(), " will do.".to_owned()]);
    }
    Some(thought)
}

fn calls(request: &Value, input: &Ask) -> Vec<Item> {
    let all = request.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let choice = request.get("tool_choice");
    let mut mode = choice.and_then(Value::as_str).unwrap_or("auto");
    let mut tools: Vec<&Value> = all.iter().collect();
    if let Some(choice) = choice.filter(|choice| choice.is_object()) {
        let allowed = choice.get("tools").and_then(Value::as_array);
        if let Some(allowed) = allowed {
            mode = text(choice, "mode").unwrap_or("auto");
            tools.retain(|tool| allowed.iter().any(|allowed| is_meant(allowed, tool)));
        } else {
            mode = "required";
            tools.retain(|tool| is_meant(choice, tool));
        }
    }
    if mode == "none" || (mode == "auto" && input.is_tool_output) {
        return Vec::new();
    }
    let Some(tool) = tools.first() else { return Vec::new() };
    call(tool, input, request.get("parallel_tool_calls") == Some(&Value::Bool(false)))
}

fn is_meant(choice: &Value, tool: &Value) -> bool {
    let same = |name: &str| choice.get(name).is_none_or(|wanted| tool.get(name) == Some(wanted));
    // For a tool of an MCP server, only `tool_choice` has the name.
    let is_named = text(tool, "type") == Some("mcp") || same("name");
    same("type") && is_named && same("server_label")
}

fn call(tool: &Value, input: &Ask, is_for_one: bool) -> Vec<Item> {
    let name = text(tool, "name").unwrap_or_default().to_owned();
    let query = input.plain().trim().to_owned();
    match text(tool, "type").unwrap_or_default() {
        "function" => {
            let schema = tool.get("parameters").cloned().unwrap_or_default();
            input.calls(&name, &schema, is_for_one)
        }
        "custom" => vec![Item::Custom { name, input: vec!["SELECT".to_owned(), " 1;".to_owned()] }],
        "file_search" => vec![Item::FileSearch(query)],
        "code_interpreter" => vec![Item::Code(sample::fragments_of("print(6 * 7)"), "42\n".to_owned())],
        "image_generation" => {
            let previews = tool.get("partial_images").and_then(Value::as_u64).unwrap_or(0).min(3);
            vec![Item::Image(usize::try_from(previews).unwrap_or(0))]
        }
        "mcp" => {
            let server = text(tool, "server_label").unwrap_or_default().to_owned();
            let query = word_after(&input.text, "for the word ").unwrap_or_else(|| "migration".to_owned());
            let arguments = sample::fragments_of(&json!({ "query": query }).to_string());
            vec![sample::mcp_tools(&server, false), sample::mcp_call(&server, arguments, false)]
        }
        "shell" | "local_shell" => {
            vec![Item::Shell(vec![(vec!["ls".to_owned(), " -a".to_owned()], "notes.txt\n".to_owned())])]
        }
        "apply_patch" => vec![Item::Patch(sample::fragments_of("@@\n-Buy milk\n+Buy bread\n"))],
        kind if kind.starts_with("web_search") => vec![Item::WebSearch(query)],
        _ => Vec::new(),
    }
}
