//! Conversion of requests to plans.

use serde_json::{Map, Value, json};
use spec::Dialect;

use crate::content::directive::Directives;
use crate::content::plan::{Item, Part, ResponsePlan, Thought, tokens};
use crate::content::{sample, text};
use recordings::capture::base64_of;

/// The last input of a request.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Input {
    /// The last text of the user in a conversation.
    text: String,
    /// Whether the last entry is the output of a tool.
    is_tool_output: bool,
    has_image: bool,
    has_file: bool,
    /// Whether the request is a trigger to compact the conversation.
    is_trigger: bool,
}

impl Input {
    fn of(request: &Value) -> Self {
        let mut input = Self::default();
        match request.get("input") {
            Some(Value::String(text)) => input.text.clone_from(text),
            Some(Value::Array(entries)) => {
                for entry in entries {
                    input.take(entry);
                }
            }
            _ => {}
        }
        input
    }

    fn take(&mut self, entry: &Value) {
        let kind = text(entry, "type").unwrap_or("message");
        self.is_tool_output = kind.ends_with("_call_output");
        self.is_trigger = kind == "compaction_trigger";
        if kind != "message" || text(entry, "role") != Some("user") {
            return;
        }
        match entry.get("content") {
            Some(Value::String(text)) => self.text.clone_from(text),
            Some(Value::Array(parts)) => {
                let kinds = |kind: &str| parts.iter().any(|part| text(part, "type") == Some(kind));
                self.has_image = kinds("input_image");
                self.has_file = kinds("input_file");
                self.text = parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join(" ");
            }
            _ => {}
        }
    }

    /// Returns the text without directives.
    fn plain(&self) -> String {
        let mut pieces = self.text.split("[[");
        let first = pieces.next().unwrap_or_default();
        let rest = pieces.filter_map(|piece| piece.split_once("]]")).map(|(_, after)| after);
        std::iter::once(first).chain(rest).collect()
    }
}

/// Returns the error status that a request selects, if any.
pub(in crate::content) fn wanted_status(request: &Value) -> Option<u16> {
    directives(request, &Input::of(request)).status
}

fn directives(request: &Value, input: &Input) -> Directives {
    // A tool output is answered with text, even if the conversation contains directives. Otherwise calls would never
    // end.
    if input.is_tool_output {
        return Directives::default();
    }
    let reference = request.pointer("/metadata/reference").and_then(Value::as_str).unwrap_or_default();
    Directives::read(&format!("{reference}{}", input.text))
}

/// Returns the plan of the response to a valid request.
pub(crate) fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let input = Input::of(request);
    let directives = directives(request, &input);
    let input_tokens = directives.input_tokens().unwrap_or_else(|| 8 + tokens(&input.plain()));
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
            plan.items.push(Item::Message(vec![Part::Text(words(request, &input, seed), Vec::new())]));
        }
    }
    limit(&mut plan, request);
    plan
}

/// Returns a conversation in the form that only this gateway can read.
fn compacted(request: &Value) -> String {
    let said = request.get("input").map(Value::to_string).unwrap_or_default();
    base64_of(said.as_bytes())
}

fn limit(plan: &mut ResponsePlan, request: &Value) {
    if let Some(limit) = request.get("max_output_tokens").and_then(Value::as_u64) {
        plan.limit(limit);
    }
}

/// Lengthens the texts of a response unless the request determines them.
pub(crate) fn lengthen(plan: &mut ResponsePlan, request: &Value, fragments: usize) {
    let format = request.pointer("/text/format/type");
    if format.is_none_or(|format| format == "text") {
        plan.lengthen(fragments);
        limit(plan, request);
    }
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

/// Returns the calls that the tools and `tool_choice` of a request lead to.
fn calls(request: &Value, input: &Input) -> Vec<Item> {
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
    let is_parallel = request.get("parallel_tool_calls") != Some(&Value::Bool(false));
    let count = if is_parallel && input.text.contains(" and ") { 2 } else { 1 };
    call(tool, input, count)
}

fn is_meant(choice: &Value, tool: &Value) -> bool {
    let same = |name: &str| choice.get(name).is_none_or(|wanted| tool.get(name) == Some(wanted));
    // For a tool of an MCP server, only `tool_choice` has the name.
    let is_named = text(tool, "type") == Some("mcp") || same("name");
    same("type") && is_named && same("server_label")
}

fn call(tool: &Value, input: &Input, count: usize) -> Vec<Item> {
    let name = text(tool, "name").unwrap_or_default().to_owned();
    let query = input.plain().trim().to_owned();
    match text(tool, "type").unwrap_or_default() {
        "function" => {
            let schema = tool.get("parameters").cloned().unwrap_or_default();
            let arguments = match sample::value(&schema) {
                Value::Object(arguments) => Value::Object(arguments),
                _ => Value::Object(serde_json::Map::new()),
            };
            let call = |number| {
                // Parallel calls in a response have different arguments.
                let text =
                    arguments.to_string().replace("\"Oslo\"", &format!("\"{}\"", sample::city(number)));
                Item::Function { name: name.clone(), arguments: sample::fragments_of(&text) }
            };
            (0..count).map(call).collect()
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

/// Returns a JSON object with the keys that the user quoted.
fn object(input: &Input) -> String {
    let keys = input.text.split('"').skip(1).step_by(2);
    let members: Map<String, Value> = keys.map(|key| (key.to_owned(), "Hello, world.".into())).collect();
    if members.is_empty() {
        r#"{"answer":"Hello, world."}"#.to_owned()
    } else {
        Value::Object(members).to_string()
    }
}

/// Returns the word that the user asked to remember earlier, if the user asks for it now.
fn recalled(request: &Value, input: &Input) -> Option<String> {
    if !input.text.to_lowercase().contains("which word") {
        return None;
    }
    let conversation = request.get("input")?.to_string();
    word_after(&conversation, "Remember the word ")
}

/// Returns the name that the user mentioned earlier in the conversation.
fn name(request: &Value) -> Option<String> {
    word_after(&request.get("input")?.to_string(), "My name is ")
}

fn word_after(text: &str, words: &str) -> Option<String> {
    let (_, after) = text.split_once(words)?;
    let word: String = after.chars().take_while(|c| c.is_alphanumeric()).collect();
    (!word.is_empty()).then_some(word)
}

/// Splits a word as models do, so that faults between deltas can be applied to it.
fn in_pieces(word: &str) -> Vec<String> {
    let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    [first, rest].iter().filter(|piece| !piece.is_empty()).map(ToString::to_string).collect()
}

fn words(request: &Value, input: &Input, seed: u64) -> Vec<String> {
    let format = request.pointer("/text/format");
    match format.and_then(|format| text(format, "type")) {
        Some("json_schema") => {
            let schema = format.and_then(|format| format.get("schema")).cloned().unwrap_or_default();
            return sample::fragments_of(&sample::value(&schema).to_string());
        }
        Some("json_object") => return sample::fragments_of(&object(input)),
        _ => {}
    }
    if let Some(word) = recalled(request, input) {
        return in_pieces(&word);
    }
    if let Some(word) = word_after(&input.text, "Use the word ") {
        return in_pieces(&word).into_iter().chain([": ".to_owned()]).chain(sample::text(seed)).collect();
    }
    if let (true, Some(name)) = (input.text.contains("What is my name"), name(request)) {
        return in_pieces(&name);
    }
    let reply = match (input.has_image, input.has_file, input.is_tool_output) {
        (true, ..) => "I see an image.",
        (_, true, _) => "I have read the file.",
        (_, _, true) => "The tool has answered.",
        _ => return sample::text(seed),
    };
    sample::fragments_of(reply)
}
