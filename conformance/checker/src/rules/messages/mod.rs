//! Rules of the Messages API.

pub(super) mod message;
pub(super) mod request;
pub(super) mod stop;
pub(super) mod thinking;
pub(super) mod tools;
pub(super) mod usage;

use crate::engine::{Node, Object, Stream};

pub(super) const CALLS: [&str; 3] = ["tool_use", "server_tool_use", "mcp_tool_use"];

const SERVER_CALLS: [&str; 2] = ["server_tool_use", "mcp_tool_use"];

/// Stop reasons of a message whose last block can be cut off.
const CUT_OFF: [&str; 3] = ["max_tokens", "model_context_window_exceeded", "refusal"];

/// Code that the server runs sends its calls whole.
fn is_called_by_code(block: &Object<'_>) -> bool {
    let caller = block.value("caller").map(Object::new);
    caller.is_some_and(|caller| caller.plain("type").is_some_and(|kind| kind != "direct"))
}

/// A message that has only calls by code when it starts has no blocks, and ends at once.
fn is_call_by_code(message: &Object<'_>) -> bool {
    let blocks = message.entries("content").unwrap_or_default();
    !blocks.is_empty() && blocks.into_iter().all(|block| is_called_by_code(&Object::new(block)))
}

fn blocks<'s>(
    stream: &'s Stream,
    kinds: &'static [&'static str],
) -> impl Iterator<Item = &'s Node> + use<'s> {
    let is_meant = |node: &&Node| node.kind().is_some_and(|kind| kinds.contains(&kind));
    stream.items().filter(is_meant)
}
