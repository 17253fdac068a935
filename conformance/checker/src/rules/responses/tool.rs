//! Rules of the group `tool`.

use std::sync::LazyLock;

use spec::table::{EventInfo, Scope, ScopeInfo};

use crate::engine::Case;
use crate::engine::{Node, NodeState, Object, phased};

pub(in crate::rules) fn mcp_failure_has_error(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    let failed = |call: &Node| call.end == Some("failed");
    // A body has no event of the failure.
    let is_failed_item =
        case.is_of_body() && item.plain("type") == Some("mcp_call") && item.plain("status") == Some("failed");
    if !is_failed_item && !stream.children(node, Scope::McpCall).any(failed) {
        return;
    }
    if let Some(status) = item.string("status").filter(|status| status != "failed") {
        case.fault("/item/status", "\"failed\"", &format!("{status:?}"), || {
            "the call failed, but its item has another status".to_owned()
        });
    }
    match item.get("error") {
        None => case.lacks("/item", "error", || "the call failed, but its item has no error".to_owned()),
        Some(error @ ("null" | "\"\"" | "{}")) => {
            case.fault("/item/error", "the error of the server", error, || {
                "the call failed, but its item has no error".to_owned()
            });
        }
        Some(_) => {}
    }
}

fn phases_of(case: &Case<'_>, kind: &str) -> Option<&'static ScopeInfo> {
    phased(case.dialect().api).find(|scope| scope.of.contains(&kind))
}

pub(in crate::rules) fn has_phases(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    let Some(kind) = item.plain("type").filter(|_| case.has_seen(node)) else { return };
    let is_over = item.string("status").is_none_or(|status| status == "completed");
    let Some(phased) = phases_of(case, kind).filter(|_| is_over) else { return };
    let scope = &phased.scope;
    let has_events = || case.dialect().effects().any(|event| event.scope == *scope);
    if stream.children(node, *scope).next().is_none() && has_events() {
        let expected = format!("the phases of the {}: {}", kind, phased.phases.join(", "));
        case.expected(&expected, || format!("the {kind} is done, but has no phase event"));
    }
}

pub(in crate::rules) fn phases_complete(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    let is_completed = item.string("status").is_none_or(|status| status == "completed");
    let Some(kind) = item.plain("type").filter(|_| is_completed && case.has_seen(node)) else { return };
    let Some(level) = phases_of(case, kind) else { return };
    let scope = &level.scope;
    let Some(phases) = stream.children(node, *scope).next().map(|call| call.phases) else { return };
    let end = Some("completed").filter(|_| !ENDED.contains(scope));
    let dialect = case.dialect();
    for (rank, phase) in level.phases.iter().copied().chain(end).enumerate() {
        let is_its = |event: &&EventInfo| event.scope == *scope && event.phase == Some(phase);
        if phases & (1 << rank) == 0
            && let Some(event) = dialect.effects().find(is_its)
        {
            case.expected(event.name, || format!("the {kind} is done, but was never {phase}"));
        }
    }
}

/// The scopes of phases whose end `tool/never-closed` asks for.
static ENDED: LazyLock<&[Scope]> =
    LazyLock::new(|| catalogue::rule("tool/never-closed").map_or(&[], |rule| rule.scopes));

pub(in crate::rules) fn status_agrees(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    if item.plain("status") != Some("failed") {
        return;
    }
    let has_completed =
        |scope: &Scope| case.stream.children(node, *scope).any(|call| call.end == Some("completed"));
    let kind = item.plain("type").unwrap_or_default();
    if phases_of(case, kind).is_some_and(|phased| has_completed(&phased.scope)) {
        case.fault("/item/status", "\"completed\"", "\"failed\"", || {
            format!("the {kind} has completed, but its item has failed")
        });
    }
}

pub(in crate::rules) fn code_fragment_within_call(case: &mut Case<'_>, node: &Node) {
    code_within_call(case, node, &Object::default());
}

pub(in crate::rules) fn code_within_call(case: &mut Case<'_>, code: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let item = stream.parent(code).filter(|item| item.state() == NodeState::Open && stream.is_whole());
    let call = item.and_then(|item| stream.children(item, Scope::CodeInterpreter).next());
    // The first phase is `in_progress`.
    if call.and_then(|call| call.phase).is_some_and(|phase| phase > 0) {
        let expected = "all code before it is interpreted";
        case.expected(expected, || "code was sent after the call began to interpret it".to_owned());
    }
}
