//! The Responses API.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::delta::Delta;
use super::super::parts::{Lane, Parts, text_of};
use super::{Reading, entries, error, index};

/// Reads a response of the Responses API.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The index of each item by its id; none if several items have the id.
    items: BTreeMap<String, Option<u64>>,
    is_body: bool,
}

impl Reading for Reader {
    fn event(&mut self, parts: &mut Parts, kind: &str, event: &Value) {
        let (output, content) = (self.output(kind, event), index(event, "content_index"));
        let text = |member| text_of(event, member).unwrap_or_default();
        match kind {
            "response.output_item.added" => open(parts, output, &event["item"]),
            "response.output_text.delta" => parts.text((output, Lane::Text, content), text("delta")),
            "response.output_text.done" => parts.whole((output, Lane::Text, content), text("text")),
            "response.refusal.delta" => parts.text((output, Lane::Refusal, content), text("delta")),
            "response.refusal.done" => parts.whole((output, Lane::Refusal, content), text("refusal")),
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                parts.text((output, Lane::Reasoning, 0), text("delta"));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                parts.text((output, Lane::Call, 0), text("delta"));
            }
            "response.function_call_arguments.done" => {
                parts.whole((output, Lane::Call, 0), text("arguments"));
            }
            "response.custom_tool_call_input.done" => parts.whole((output, Lane::Call, 0), text("input")),
            "response.content_part.done" => {
                parts.close((output, Lane::Text, content));
                parts.close((output, Lane::Refusal, content));
            }
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    close(parts, output, item);
                }
            }
            _ => {
                // Some vendors have the members of the response in the event itself.
                let is_response = || event.get("status").is_some().then_some(event);
                if let Some(response) = event.get("response").or_else(is_response) {
                    parts.start(response);
                    self.terminal(parts, response, kind.strip_prefix("response."));
                }
            }
        }
    }

    fn body(&mut self, parts: &mut Parts, body: &Value) {
        parts.start(body);
        self.is_body = true;
        self.terminal(parts, body, None);
    }
}

impl Reader {
    /// The response is in an event, whose type has the status too, or is a body.
    fn terminal(&self, parts: &mut Parts, response: &Value, status: Option<&str>) {
        let words = &parts.api.status;
        let Some(status) = text_of(response, "status").or(status) else { return };
        parts.count(response);
        let is_failed = status == words.failed || status == "cancelled";
        let is_over = is_failed || status == words.completed || status == words.incomplete;
        // A body is all that comes, also with another status.
        if !is_over && !self.is_body {
            return;
        }
        // An item that was not streamed is in the response alone. Indices of others need not be right.
        if parts.is_empty() {
            for (output, item) in entries(response, "output") {
                close(parts, output, item);
            }
        }
        if response.get("error").is_some_and(|error| !error.is_null()) {
            parts.out.push(Delta::Failed(error(response)));
        }
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        parts.stop(status, reason, None);
        if is_over {
            parts.out.push(Delta::Ended);
        }
    }

    /// If the id names another item than the index, the id counts: it names the same item in the finished response.
    fn output(&mut self, kind: &str, event: &Value) -> u64 {
        let output = index(event, "output_index");
        let id = text_of(event, "item_id").or_else(|| text_of(event.get("item")?, "id")).unwrap_or_default();
        if kind == "response.output_item.added" && !id.is_empty() {
            let known = self.items.entry(id.to_owned());
            known.and_modify(|known| *known = None).or_insert(Some(output));
            return output;
        }
        self.items.get(id).copied().flatten().unwrap_or(output)
    }
}

fn open(parts: &mut Parts, output: u64, item: &Value) {
    let text = |member| text_of(item, member).unwrap_or_default();
    match text("type") {
        // Some vendors name a call only when it is complete.
        "function_call" | "custom_tool_call" if !text("name").is_empty() => call(parts, output, item),
        "reasoning" => parts.reasoning((output, Lane::Reasoning, 0), text_of(item, "id"), false),
        _ => {}
    }
}

fn call(parts: &mut Parts, output: u64, item: &Value) {
    let text = |member| text_of(item, member).unwrap_or_default();
    parts.call((output, Lane::Call, 0), text("call_id"), text("name"));
}

fn close(parts: &mut Parts, output: u64, item: &Value) {
    let text = |member| text_of(item, member).unwrap_or_default();
    match text("type") {
        "function_call" => {
            call(parts, output, item);
            parts.whole((output, Lane::Call, 0), text("arguments"));
        }
        "custom_tool_call" => {
            call(parts, output, item);
            parts.whole((output, Lane::Call, 0), text("input"));
        }
        "reasoning" => {
            let key = (output, Lane::Reasoning, 0);
            if !parts.has_text(output, Lane::Reasoning) {
                open(parts, output, item);
                for (_, part) in entries(item, "summary").chain(entries(item, "content")) {
                    parts.text(key, text_of(part, "text").unwrap_or_default());
                }
            }
            parts.seal(key, text("encrypted_content"));
        }
        "message" if !parts.has_text(output, Lane::Text) && !parts.has_text(output, Lane::Refusal) => {
            for (content, part) in entries(item, "content") {
                match text_of(part, "refusal") {
                    Some(refusal) => parts.text((output, Lane::Refusal, content), refusal),
                    None => {
                        parts.text((output, Lane::Text, content), text_of(part, "text").unwrap_or_default());
                    }
                }
            }
        }
        _ => {}
    }
    parts.close_all(output);
}
