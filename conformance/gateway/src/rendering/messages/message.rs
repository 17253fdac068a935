//! Conversion of plans to events and messages.

use serde_json::{Value, json};
use spec::Dialect;

use super::blocks::{Block, Blocks};
use crate::content::plan::{Ending, Item, Part, ResponsePlan};
use crate::content::problem::{NO_THREADS, Problem};
use crate::content::text;
use crate::rendering::RenderedResponse;

pub(in crate::rendering) fn models(models: &[String]) -> Value {
    let model = |id: &String| json!({"type": "model", "id": id, "display_name": id, "created_at": "2026-07-25T17:20:00Z"});
    json!({"data": models.iter().map(model).collect::<Vec<_>>(), "has_more": false, "first_id": models.first(),
        "last_id": models.last()})
}

/// The type of an error follows from the status.
pub(in crate::rendering) fn problem(problem: &Problem) -> Value {
    let kind = match problem.status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        503 | 529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let mut error = json!({"type": kind, "message": problem.message});
    if problem.code == NO_THREADS {
        error["details"] = json!({"error_code": problem.code, "unsupported": [problem.param]});
    }
    json!({"type": "error", "error": error, "request_id": "req_1"})
}

pub(in crate::rendering) fn render(
    request: &Value,
    plan: &ResponsePlan,
    _dialect: &'static Dialect,
    _seed: u64,
) -> RenderedResponse {
    let mut blocks = Blocks::of(&plan.items);
    if plan.ending == Ending::Paused {
        blocks.without_last_result();
    }
    let message = Message { request, plan, blocks };
    let (status, body) = match plan.ending {
        Ending::Failed(_) => (500, failure()),
        _ => (200, message.body()),
    };
    RenderedResponse { events: message.stream(), snapshots: [body.clone(), body.clone(), body], status }
}

fn failure() -> Value {
    json!({"type": "error", "error": {"type": "api_error", "message": "The server had an error."},
        "request_id": "req_1"})
}

struct Message<'p> {
    request: &'p Value,
    plan: &'p ResponsePlan,
    blocks: Blocks,
}

impl Message<'_> {
    fn stream(&self) -> Vec<String> {
        let mut events = vec![written("message_start", json!({ "message": self.opened() }))];
        let ping = || written("ping", json!({}));
        if self.plan.has_keepalive || self.blocks.all.is_empty() {
            events.push(ping());
        }
        let last = match self.plan.ending {
            Ending::Failed(after) => after,
            _ => usize::MAX,
        };
        let steps = self.blocks.all.iter().enumerate().flat_map(|(index, block)| steps(index, block));
        for (number, step) in steps.take(last).enumerate() {
            events.push(step);
            if number == 0 && !self.plan.has_keepalive {
                events.push(ping());
            }
        }
        if last != usize::MAX {
            let failure = json!({"error": {"type": "overloaded_error", "message": "Overloaded"}});
            events.push(written("error", failure));
            return events;
        }
        let (reason, sequence, details) = self.stop();
        events.push(written(
            "message_delta",
            json!({"delta": {"stop_reason": reason, "stop_sequence": sequence, "stop_details": details},
                "usage": self.usage_at_end()}),
        ));
        events.push(written("message_stop", json!({})));
        events
    }

    fn head(&self, content: &[Value]) -> Value {
        json!({"model": text(self.request, "model").unwrap_or("reference-1"), "id": "msg_1", "type": "message",
            "role": "assistant", "content": content, "stop_reason": null, "stop_sequence": null,
            "stop_details": null})
    }

    fn opened(&self) -> Value {
        let mut message = self.head(&[]);
        message["usage"] = self.usage(self.plan.output_tokens().clamp(1, 2));
        message
    }

    fn body(&self) -> Value {
        let content: Vec<Value> = self.blocks.all.iter().map(|block| block.closed.clone()).collect();
        let mut message = self.head(&content);
        let (reason, sequence, details) = self.stop();
        message["stop_reason"] = json!(reason);
        message["stop_sequence"] = json!(sequence);
        message["stop_details"] = details;
        message["usage"] = self.usage(self.plan.output_tokens());
        if let Some(searches) = self.searches() {
            message["usage"]["server_tool_use"] = searches;
        }
        message
    }

    /// The reason, the stop sequence, and the details of a refusal.
    fn stop(&self) -> (&'static str, Option<&str>, Value) {
        let is_refusal = |part: &Part| matches!(part, Part::Refusal(_));
        let refuses = |item: &Item| matches!(item, Item::Message(parts) if parts.iter().any(is_refusal));
        let calls = |item: &Item| matches!(item, Item::Function { .. });
        let has = |is: &dyn Fn(&Item) -> bool| self.plan.items.iter().any(is);
        let refusal =
            || json!({"type": "refusal", "category": null, "explanation": "The request was refused."});
        match (self.plan.ending, &self.plan.stopped_before) {
            (Ending::Incomplete("content_filter"), _) => ("refusal", None, refusal()),
            (Ending::Incomplete(_), _) => ("max_tokens", None, Value::Null),
            (Ending::Paused, _) => ("pause_turn", None, Value::Null),
            (_, Some(sequence)) => ("stop_sequence", Some(sequence), Value::Null),
            _ if has(&refuses) => ("refusal", None, refusal()),
            _ if has(&calls) => ("tool_use", None, Value::Null),
            _ => ("end_turn", None, Value::Null),
        }
    }

    fn usage(&self, output: u64) -> Value {
        let (uncached, cached) = (self.uncached(), self.plan.cached_tokens);
        json!({"input_tokens": uncached, "cache_creation_input_tokens": cached,
            "cache_read_input_tokens": self.plan.read_tokens,
            "cache_creation": {"ephemeral_5m_input_tokens": cached, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output, "service_tier": "standard"})
    }

    const fn uncached(&self) -> u64 {
        self.plan.input_tokens.saturating_sub(self.plan.read_tokens)
    }

    fn usage_at_end(&self) -> Value {
        let (uncached, cached) = (self.uncached(), self.plan.cached_tokens);
        let mut usage = json!({"input_tokens": uncached, "cache_creation_input_tokens": cached,
            "cache_read_input_tokens": self.plan.read_tokens, "output_tokens": self.plan.output_tokens().max(1)});
        let thinking = self.plan.reasoning_tokens();
        if thinking > 0 {
            usage["output_tokens_details"] = json!({ "thinking_tokens": thinking });
        }
        if let Some(searches) = self.searches() {
            usage["server_tool_use"] = searches;
        }
        usage
    }

    fn searches(&self) -> Option<Value> {
        let searches = self.blocks.searches;
        (searches > 0).then(|| json!({"web_search_requests": searches, "web_fetch_requests": 0}))
    }
}

fn steps(index: usize, block: &Block) -> impl Iterator<Item = String> {
    let opened = written("content_block_start", json!({"index": index, "content_block": block.opened}));
    let delta = move |delta: &Value| written("content_block_delta", json!({"index": index, "delta": delta}));
    let closed = written("content_block_stop", json!({ "index": index }));
    std::iter::once(opened).chain(block.deltas.iter().map(delta)).chain([closed])
}

fn written(kind: &str, members: Value) -> String {
    let mut data = json!({ "type": kind });
    if let (Value::Object(data), Value::Object(members)) = (&mut data, members) {
        data.extend(members);
    }
    format!("event: {kind}\ndata: {data}\n\n")
}
