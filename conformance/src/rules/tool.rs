//! Rules of the group `tool`.

use spec::table::Scope;

use super::Case;
use crate::engine::{Node, Object};

pub(super) fn mcp_failure_has_error(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    let failed =
        |call: &Node| call.closed.as_ref().is_some_and(|end| end.event_type() == "response.mcp_call.failed");
    if !stream.children(node, Scope::McpCall).any(failed) {
        return;
    }
    if let Some(status) = item.get("status").filter(|status| *status != "\"failed\"") {
        case.fault("/item/status", "\"failed\"", status, || {
            "the call has failed, and its item has another status".to_owned()
        });
    }
    match item.get("error") {
        None => case.fault("/item", "property \"error\"", "none", || {
            "the call has failed, and its item has no error".to_owned()
        }),
        Some(error @ ("null" | "\"\"" | "{}")) => case.fault("/item/error", "what went wrong", error, || {
            "the call has failed, and its item has no error".to_owned()
        }),
        Some(_) => {}
    }
}
