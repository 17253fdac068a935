//! The content of a response, from a stream or a body.

use std::collections::BTreeMap;

use serde_json::Value;

use super::protocol::ReplyUsage;

/// The content of a response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The texts of its parts, in order.
    pub texts: Vec<String>,
    /// The refusals.
    pub refusal: String,
    /// Summaries and texts of reasoning.
    pub reasoning: String,
    /// The calls of functions and custom tools.
    pub calls: Vec<Call>,
    /// The status of the response.
    pub status: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// Its token usage.
    pub usage: Option<ReplyUsage>,
}

/// A call of a function or a custom tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// Its id.
    pub call_id: String,
    /// The name of the function.
    pub name: String,
    /// Its arguments, or its input.
    pub arguments: String,
}

impl Answer {
    /// Returns the content of a response.
    pub fn of_response(response: &Value) -> Self {
        let mut answer = Self {
            status: text(response, "status").map(str::to_owned),
            id: text(response, "id").map(str::to_owned),
            usage: response.get("usage").filter(|usage| usage.is_object()).map(|usage| ReplyUsage {
                input_tokens: usage.get("input_tokens").and_then(Value::as_u64),
                output_tokens: usage.get("output_tokens").and_then(Value::as_u64),
            }),
            ..Self::default()
        };
        for item in list(response, "output") {
            answer.add(item);
        }
        answer
    }

    fn add(&mut self, item: &Value) {
        let own = |name| text(item, name).unwrap_or_default().to_owned();
        match text(item, "type").unwrap_or_default() {
            "message" => {
                for part in list(item, "content") {
                    match text(part, "type") {
                        Some("output_text") => {
                            self.texts.push(text(part, "text").unwrap_or_default().to_owned());
                        }
                        Some("refusal") => self.refusal += text(part, "refusal").unwrap_or_default(),
                        _ => {}
                    }
                }
            }
            "reasoning" => {
                for part in list(item, "summary").chain(list(item, "content")) {
                    self.reasoning += text(part, "text").unwrap_or_default();
                }
            }
            "function_call" => self.calls.push(Call {
                call_id: own("call_id"),
                name: own("name"),
                arguments: own("arguments"),
            }),
            "custom_tool_call" => {
                self.calls.push(Call { call_id: own("call_id"), name: own("name"), arguments: own("input") });
            }
            _ => {}
        }
    }

    /// Returns the content of the deltas of a stream, without values that only the last event has.
    pub fn of_deltas(events: &[Value]) -> Self {
        let mut streamed = Streamed::default();
        for event in events {
            streamed.take(event);
        }
        let mut answer = Self { id: streamed.id, ..Self::default() };
        for (_, item) in streamed.items {
            answer.texts.extend(item.texts.into_values());
            answer.refusal += &item.refusal;
            answer.reasoning += &item.reasoning;
            answer.calls.extend(item.call);
        }
        answer
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.texts.concat()
    }
}

#[derive(Default)]
struct Streamed {
    id: Option<String>,
    items: BTreeMap<u64, Item>,
}

#[derive(Default)]
struct Item {
    texts: BTreeMap<u64, String>,
    refusal: String,
    reasoning: String,
    call: Option<Call>,
}

impl Streamed {
    fn take(&mut self, event: &Value) {
        let number = |name| event.get(name).and_then(Value::as_u64).unwrap_or(0);
        let item = self.items.entry(number("output_index"));
        let delta = text(event, "delta").unwrap_or_default();
        match text(event, "type").unwrap_or_default() {
            "response.created" => {
                self.id = event.pointer("/response/id").and_then(Value::as_str).map(str::to_owned);
            }
            "response.output_item.added" => {
                let Some(added) = event.get("item") else { return };
                let own = |name| text(added, name).unwrap_or_default().to_owned();
                if matches!(text(added, "type"), Some("function_call" | "custom_tool_call")) {
                    let arguments = String::new();
                    item.or_default().call =
                        Some(Call { call_id: own("call_id"), name: own("name"), arguments });
                }
            }
            "response.content_part.added" if is_text(event) => {
                item.or_default().texts.entry(number("content_index")).or_default();
            }
            "response.output_text.delta" => {
                *item.or_default().texts.entry(number("content_index")).or_default() += delta;
            }
            "response.refusal.delta" => item.or_default().refusal += delta,
            "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning.delta" => item.or_default().reasoning += delta,
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                if let Some(call) = &mut item.or_default().call {
                    call.arguments += delta;
                }
            }
            _ => {}
        }
    }
}

fn is_text(event: &Value) -> bool {
    event.pointer("/part/type").is_some_and(|kind| kind == "output_text")
}

pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
