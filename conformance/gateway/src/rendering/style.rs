//! Differences of dialects from OpenAI's API, in which plans are written.

use serde_json::{Map, Value, json};
use spec::Dialect;
use spec::table::Role;

/// The style of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DialectStyle {
    /// OpenAI's API.
    OpenAi,
    /// The Open Responses specification: three kinds of items, each with a status.
    OpenResponses,
    /// Items and responses of few fields.
    Wave,
    /// Only empty messages as items.
    Aitronos,
    /// Text and MCP calls; whether events have a type and a number.
    Vllm(bool),
    /// Items without ids, times in milliseconds.
    EuGpt,
}

impl DialectStyle {
    /// Returns the style of a dialect. If it allows alternatives, the seed decides.
    pub(crate) fn of(dialect: &Dialect, seed: u64) -> Self {
        let is = |name: &str| {
            let family = |other: &str| other.split('@').next() == Some(name);
            family(dialect.name) || dialect.lineage.iter().any(|other| family(other))
        };
        match () {
            () if is("open-responses") => Self::OpenResponses,
            () if is("wave") => Self::Wave,
            () if is("aitronos") => Self::Aitronos,
            () if is("vllm-responses") => Self::Vllm(seed % 2 == 1),
            () if is("eugpt") => Self::EuGpt,
            () => Self::OpenAi,
        }
    }

    /// Returns whether items of that type exist.
    pub(super) fn knows(self, kind: &str) -> bool {
        match self {
            Self::OpenAi => true,
            Self::OpenResponses => matches!(kind, "message" | "reasoning" | "function_call"),
            Self::Wave => matches!(
                kind,
                "message"
                    | "reasoning"
                    | "function_call"
                    | "web_search_call"
                    | "file_search_call"
                    | "code_interpreter_call"
                    | "image_generation_call"
            ),
            Self::Aitronos => kind == "message",
            Self::Vllm(_) => matches!(kind, "message" | "mcp_call"),
            Self::EuGpt => matches!(kind, "message" | "function_call"),
        }
    }

    /// Returns whether a tool of that type can be echoed.
    pub(super) fn knows_tool(self, kind: &str) -> bool {
        self != Self::OpenResponses || kind == "function"
    }

    /// Returns whether an event has a sequence number.
    pub(super) fn is_numbered(self, event: &str) -> bool {
        match self {
            Self::OpenAi | Self::OpenResponses => true,
            Self::Wave => event == "error",
            Self::Aitronos => false,
            Self::Vllm(numbered) => numbered,
            Self::EuGpt => event != "error",
        }
    }

    /// Returns whether events have a type in their data.
    pub(crate) const fn is_typed(self) -> bool {
        !matches!(self, Self::Aitronos | Self::Vllm(false))
    }

    /// Returns an item when it is opened or closed.
    pub(super) fn item(self, item: &Value, role: Role) -> Value {
        let is_open = role == Role::Open;
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        match self {
            Self::OpenAi => item.clone(),
            Self::OpenResponses => {
                let mut item = item.clone();
                if kind == "reasoning" && item.get("status").is_none() {
                    item["status"] = json!(if is_open { "in_progress" } else { "completed" });
                }
                item
            }
            Self::Wave => pick(
                item,
                match (kind, is_open) {
                    ("function_call", false) => &["type", "id", "call_id", "name", "arguments", "status"],
                    ("web_search_call", false) => &["type", "id", "status", "action"],
                    ("file_search_call", false) => &["type", "id", "queries", "results"],
                    ("code_interpreter_call", false) => &["type", "id", "code", "container_id", "outputs"],
                    ("image_generation_call", false) => &["type", "id", "result"],
                    _ => &["type", "id"],
                },
            ),
            Self::Aitronos => pick(item, &["type"]),
            Self::Vllm(_) => {
                let kept: &[&str] = if is_open {
                    &["id", "type", "role", "status"]
                } else {
                    &["id", "type", "role", "status", "content", "output"]
                };
                let mut kept = pick(item, kept);
                if let Some(parts) = kept.get_mut("content").and_then(Value::as_array_mut) {
                    for part in parts {
                        *part = self.part(part);
                    }
                }
                if kept.get("output").is_some_and(Value::is_null) {
                    kept = pick(&kept, &["id", "type", "status"]);
                    kept["error"] = json!("tools/call timeout after 60s");
                }
                kept
            }
            Self::EuGpt if kind == "message" => pick(item, &["type"]),
            Self::EuGpt => {
                let mut kept = pick(item, &["type", "name", "call_id", "arguments"]);
                if !is_open {
                    kept["output"] = json!("Done.");
                    kept["status"] = json!("completed");
                }
                kept
            }
        }
    }

    fn part(self, part: &Value) -> Value {
        match self {
            Self::Vllm(_) => {
                let text = part.get("text").or_else(|| part.get("refusal")).cloned().unwrap_or_default();
                json!({"type": "text", "text": text})
            }
            Self::EuGpt => pick(part, &["type", "text"]),
            _ => part.clone(),
        }
    }

    /// Adapts an event of an item.
    pub(super) fn event(self, name: &str, mut data: Map<String, Value>) -> Map<String, Value> {
        if let Some(part) = data.get_mut("part") {
            *part = self.part(part);
        }
        let left_out: &[&str] = match self {
            Self::OpenAi | Self::OpenResponses => &[],
            Self::Wave => &["content_index", "annotation_index", "part"],
            Self::Vllm(_) => &["logprobs"],
            Self::EuGpt => &["item_id", "logprobs"],
            Self::Aitronos if name == "response.output_text.done" => {
                &["item_id", "content_index", "logprobs", "output_index"]
            }
            Self::Aitronos => &["item_id", "content_index", "logprobs"],
        };
        data.retain(|name, _| !left_out.contains(&name.as_str()));
        if self == Self::Wave && data.get("logprobs") == Some(&json!([])) {
            data.shift_remove("logprobs");
        }
        let index = if self == Self::Aitronos { data.shift_remove("output_index") } else { None };
        data.extend(index.map(|index| ("index".to_owned(), index)));
        data
    }
}

/// Returns some members of an object.
pub(super) fn pick(object: &Value, names: &[&str]) -> Value {
    let members = names.iter().filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.clone())));
    Value::Object(members.collect())
}
