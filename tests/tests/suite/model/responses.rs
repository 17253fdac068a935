//! What events of the Responses API do.

use std::collections::{BTreeMap, BTreeSet};

use super::event::Event;
use super::machine::{Key, Model, Objects, Step};

/// The items, parts and ids of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Responses {
    number: Option<u64>,
    response: Option<String>,
    items: BTreeMap<u64, Item>,
    /// The index of the item that was added last.
    last: u64,
    ids: BTreeSet<String>,
}

#[derive(Debug, Clone, Default)]
struct Item {
    id: String,
    kind: String,
    parts: BTreeMap<u64, String>,
    summaries: u64,
    annotations: BTreeMap<u64, u64>,
    images: u64,
}

/// What an event about an item does: to which kind of object, the types of items that it is about, the index of the object,
/// and the type of parts.
type AboutItem =
    (&'static str, (&'static str, &'static str), &'static [&'static str], &'static str, &'static str);

const ABOUT_ITEMS: &[AboutItem] = &[
    ("content_part.added", ("part", "added"), &["message", "reasoning"], "content_index", ""),
    ("content_part.done", ("part", "done"), &["message", "reasoning"], "content_index", ""),
    ("output_text.delta", ("part", "delta"), &["message"], "content_index", "output_text"),
    ("output_text.done", ("part", "text"), &["message"], "content_index", "output_text"),
    ("output_text.annotation.added", ("part", "annotation"), &["message"], "content_index", "output_text"),
    ("refusal.delta", ("part", "delta"), &["message"], "content_index", "refusal"),
    ("refusal.done", ("part", "text"), &["message"], "content_index", "refusal"),
    ("reasoning_text.delta", ("part", "delta"), &["reasoning"], "content_index", "reasoning_text"),
    ("reasoning_text.done", ("part", "text"), &["reasoning"], "content_index", "reasoning_text"),
    ("reasoning_summary_part.added", ("summary", "added"), &["reasoning"], "summary_index", ""),
    ("reasoning_summary_part.done", ("summary", "done"), &["reasoning"], "summary_index", ""),
    ("reasoning_summary_text.delta", ("summary", "delta"), &["reasoning"], "summary_index", ""),
    ("reasoning_summary_text.done", ("summary", "text"), &["reasoning"], "summary_index", ""),
    ("function_call_arguments.delta", ("input", "delta"), &["function_call"], "", ""),
    ("function_call_arguments.done", ("input", "done"), &["function_call"], "", ""),
    ("custom_tool_call_input.delta", ("input", "delta"), &["custom_tool_call"], "", ""),
    ("custom_tool_call_input.done", ("input", "done"), &["custom_tool_call"], "", ""),
    ("mcp_call_arguments.delta", ("input", "delta"), &["mcp_call"], "", ""),
    ("mcp_call_arguments.done", ("input", "done"), &["mcp_call"], "", ""),
    ("shell_call_command.added", ("command", "added"), &["shell_call"], "command_index", ""),
    ("shell_call_command.delta", ("command", "delta"), &["shell_call"], "command_index", ""),
    ("shell_call_command.done", ("command", "done"), &["shell_call"], "command_index", ""),
    ("shell_call_output_content.delta", ("output", "delta"), &["shell_call_output"], "command_index", ""),
    ("shell_call_output_content.done", ("output", "done"), &["shell_call_output"], "command_index", ""),
    ("apply_patch_call_operation_diff.delta", ("diff", "delta"), &["apply_patch_call"], "", ""),
    ("apply_patch_call_operation_diff.done", ("diff", "done"), &["apply_patch_call"], "", ""),
    ("web_search_call.in_progress", ("search", "in_progress"), &["web_search_call"], "", ""),
    ("web_search_call.searching", ("search", "searching"), &["web_search_call"], "", ""),
    ("web_search_call.completed", ("search", "completed"), &["web_search_call"], "", ""),
    ("file_search_call.in_progress", ("search", "in_progress"), &["file_search_call"], "", ""),
    ("file_search_call.searching", ("search", "searching"), &["file_search_call"], "", ""),
    ("file_search_call.completed", ("search", "completed"), &["file_search_call"], "", ""),
    ("code_interpreter_call.in_progress", ("code", "in_progress"), &["code_interpreter_call"], "", ""),
    ("code_interpreter_call_code.delta", ("code", "delta"), &["code_interpreter_call"], "", ""),
    ("code_interpreter_call_code.done", ("code", "done"), &["code_interpreter_call"], "", ""),
    ("code_interpreter_call.interpreting", ("code", "interpreting"), &["code_interpreter_call"], "", ""),
    ("code_interpreter_call.completed", ("code", "completed"), &["code_interpreter_call"], "", ""),
    ("image_generation_call.in_progress", ("image", "in_progress"), &["image_generation_call"], "", ""),
    ("image_generation_call.generating", ("image", "generating"), &["image_generation_call"], "", ""),
    ("image_generation_call.partial_image", ("image", "partial"), &["image_generation_call"], "", ""),
    ("image_generation_call.completed", ("image", "completed"), &["image_generation_call"], "", ""),
    ("mcp_call.in_progress", ("mcp", "in_progress"), &["mcp_call"], "", ""),
    ("mcp_call.completed", ("mcp", "completed"), &["mcp_call"], "", ""),
    ("mcp_call.failed", ("mcp", "completed"), &["mcp_call"], "", ""),
    ("mcp_list_tools.in_progress", ("mcp", "in_progress"), &["mcp_list_tools"], "", ""),
    ("mcp_list_tools.completed", ("mcp", "completed"), &["mcp_list_tools"], "", ""),
    ("mcp_list_tools.failed", ("mcp", "completed"), &["mcp_list_tools"], "", ""),
];

const fn whole(kind: &'static str, does: &'static str) -> Step {
    Step { kind, key: (0, 0), does }
}

impl Model for Responses {
    const API: &'static str = "responses";

    fn steps(&mut self, event: Option<&Event>, objects: &Objects) -> Vec<Step> {
        let Some(event) = event else { return vec![whole("stream", "end")] };
        if event.is_marker() {
            return vec![whole("stream", "marker")];
        }
        let mut steps = self.numbered(event);
        let kind = event.kind().strip_prefix("response.").unwrap_or_default();
        match kind {
            "created" => steps.extend([whole("stream", "event"), whole("response", "created")]),
            "queued" => steps.extend([whole("stream", "event"), whole("response", "queued")]),
            "in_progress" => steps.extend([whole("stream", "event"), whole("response", "in_progress")]),
            "completed" | "incomplete" => {
                let of_budget = if kind == "incomplete" { "incomplete" } else { "other" };
                steps.extend([
                    whole("stream", "terminal"),
                    whole("response", "work"),
                    whole("budget", of_budget),
                ]);
                let items = self.items.iter();
                steps.extend(items.map(|(at, item)| {
                    let is_used =
                        matches!(item.kind.as_str(), "message" | "function_call" | "custom_tool_call");
                    Step { kind: "item", key: (*at, 0), does: if is_used { "ended" } else { "left" } }
                }));
                steps.extend(self.inner(objects, None).map(|(kind, key)| Step { kind, key, does: "ended" }));
            }
            "failed" => {
                steps.extend([
                    whole("stream", "failed"),
                    whole("response", "failed"),
                    whole("budget", "other"),
                ]);
            }
            _ if event.kind() == "error" => {
                steps.extend([whole("stream", "error"), whole("response", "refused")]);
            }
            "output_item.added" => self.added(event, objects, &mut steps),
            "output_item.done" => self.done(event, objects, &mut steps),
            _ => self.updated(kind, event, objects, &mut steps),
        }
        steps
    }
}

impl Responses {
    fn numbered(&mut self, event: &Event) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(number) = event.number("/sequence_number") {
            let does = match self.number.replace(number) {
                None if number == 0 => "first",
                None => "late",
                Some(before) if number == before + 1 => "next",
                Some(before) if number > before => "gap",
                Some(_) => "back",
            };
            steps.push(whole("order", does));
        }
        if let Some(id) = event.text("/response/id")
            && self.response.get_or_insert_with(|| id.to_owned()) != id
        {
            steps.push(whole("identity", "response"));
        }
        steps
    }

    /// Returns what an item, or each of them, has inside.
    fn inner<'o>(
        &'o self,
        objects: &'o Objects,
        at: Option<u64>,
    ) -> impl Iterator<Item = (&'static str, Key)> + 'o {
        let is_web = |key: &Key| self.items.get(&key.0).is_some_and(|item| item.kind == "web_search_call");
        let ends = move |kind: &str, key: &Key| match kind {
            "part" | "summary" | "input" | "command" | "diff" | "code" | "mcp" => true,
            // Azure sends no end of web searches.
            "search" => !is_web(key),
            _ => false,
        };
        let of_item = objects.keys().filter(move |(_, key)| at.is_none_or(|at| key.0 == at));
        of_item.filter(move |(kind, key)| ends(kind, key)).copied()
    }

    fn added(&mut self, event: &Event, objects: &Objects, steps: &mut Vec<Step>) {
        steps.extend([whole("stream", "event"), whole("response", "work"), whole("budget", "added")]);
        let Some(at) = event.number("/output_index") else { return };
        let next = self.items.len() as u64;
        let is_new = !objects.contains_key(&("item", (at, 0)));
        steps.push(Step { kind: "item", key: (at, 0), does: "added" });
        if is_new && at != next {
            steps.push(whole("order", "item"));
        }
        let text = |pointer| event.text(pointer).unwrap_or_default().to_owned();
        let item = Item { id: text("/item/id"), kind: text("/item/type"), ..Item::default() };
        if !self.ids.insert(item.id.clone()) {
            steps.push(whole("identity", "unique"));
        }
        self.items.insert(at, item);
        self.last = at;
    }

    fn done(&self, event: &Event, objects: &Objects, steps: &mut Vec<Step>) {
        steps.extend([whole("stream", "event"), whole("response", "work")]);
        let Some(at) = event.number("/output_index") else { return };
        steps.extend(self.inner(objects, Some(at)).map(|(kind, key)| Step { kind, key, does: "item" }));
        if let Some(item) = self.items.get(&at) {
            if item.kind == "function_call" && !objects.contains_key(&("input", (at, 0))) {
                steps.push(Step { kind: "input", key: (at, 0), does: "item" });
            }
            if event.text("/item/id") != Some(&item.id) {
                steps.push(whole("identity", "item"));
            }
            if event.text("/item/type") != Some(&item.kind) {
                steps.push(whole("identity", "type"));
            }
        }
        steps.push(Step { kind: "item", key: (at, 0), does: "done" });
        // A web search has no tokens of the model.
        let has_tokens = self.items.get(&at).is_some_and(|item| item.kind != "web_search_call");
        if has_tokens && event.text("/item/status") == Some("incomplete") {
            steps.push(whole("budget", if self.last == at { "exhausted" } else { "overtaken" }));
        }
    }

    fn updated(&mut self, name: &str, event: &Event, objects: &Objects, steps: &mut Vec<Step>) {
        let about = ABOUT_ITEMS.iter().find(|(about, ..)| *about == name);
        let Some((_, (kind, does), items, index, part)) = about else {
            steps.extend([whole("stream", "other"), whole("response", "other")]);
            return;
        };
        steps.extend([whole("stream", "event"), whole("response", "work")]);
        let Some(at) = event.number("/output_index") else { return };
        steps.push(Step { kind: "item", key: (at, 0), does: "update" });
        let Some(item) = self.items.get_mut(&at) else { return };
        if event.text("/item_id").is_some_and(|id| id != item.id) {
            steps.push(whole("identity", "item"));
        }
        if !items.contains(&item.kind.as_str()) {
            steps.push(whole("identity", if *kind == "input" { "call" } else { "tool" }));
        }
        let inner = if index.is_empty() { Some(0) } else { event.number(&format!("/{index}")) };
        let Some(inner) = inner else { return };
        let key = (at, inner);
        match (*kind, *does) {
            ("part", "added") if !item.parts.contains_key(&inner) => {
                if inner != item.parts.len() as u64 {
                    steps.push(whole("order", "part"));
                }
                item.parts.insert(inner, event.text("/part/type").unwrap_or_default().to_owned());
            }
            ("part", "done")
                if item.parts.get(&inner).is_some_and(|it| event.text("/part/type") != Some(it)) =>
            {
                steps.push(whole("identity", "type"));
            }
            ("part", "annotation") => {
                let next = item.annotations.entry(inner).or_default();
                if event.number("/annotation_index") != Some(*next) {
                    steps.push(whole("order", "annotation"));
                }
                *next += 1;
            }
            ("summary", "added") => {
                let others = objects.keys().filter(|it| it.0 == "summary" && it.1.0 == at && it.1 != key);
                steps.extend(others.map(|it| Step { kind: "summary", key: it.1, does: "another" }));
                if !objects.contains_key(&("summary", key)) {
                    if inner != item.summaries {
                        steps.push(whole("order", "summary"));
                    }
                    item.summaries += 1;
                }
            }
            ("command", "added") | ("output", _)
                if !objects.contains_key(&(*kind, key))
                    && inner != objects.keys().filter(|it| it.0 == *kind && it.1.0 == at).count() as u64 =>
            {
                steps.push(whole("order", "command"));
            }
            ("image", "partial") => {
                if event.number("/partial_image_index") != Some(item.images) {
                    steps.push(whole("order", "image"));
                }
                item.images += 1;
            }
            _ => {}
        }
        if item.parts.get(&inner).is_some_and(|of| *kind == "part" && !part.is_empty() && of != part) {
            steps.push(whole("identity", "content"));
        }
        steps.push(Step { kind, key, does });
    }
}
