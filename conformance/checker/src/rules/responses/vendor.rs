//! Rules of the group `vendor`.

use spec::table::Scope;

use crate::engine::{Case, Ending, Snapshot};
use crate::engine::{Node, NodeState, Object, short};

pub(in crate::rules) fn created_at_in_milliseconds(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(time) = snapshot.response.number("created_at") else { return };
    if !(1e12..4e12).contains(&time) {
        let expected = "a Unix time in milliseconds, such as 1785000000000";
        case.fault("/response/created_at", expected, &time.to_string(), || {
            format!("created_at is {time}, not a Unix time in milliseconds")
        });
    }
}

pub(in crate::rules) fn mcp_arguments_within_call(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    mcp_fragment_within_call(case, node);
}

pub(in crate::rules) fn mcp_fragment_within_call(case: &mut Case<'_>, arguments: &Node) {
    let stream = case.stream;
    let item = stream.parent(arguments).filter(|item| item.state() == NodeState::Open);
    let Some(item) = item.filter(|_| stream.is_whole()) else { return };
    let call = stream.children(item, Scope::McpCall).next().map_or(NodeState::Implied, Node::state);
    let wrong = match call {
        NodeState::Open => return,
        NodeState::Implied | NodeState::Gone => "arguments were sent before the call was in progress",
        NodeState::Closed => "arguments were sent after the call ended",
    };
    let expected = "arguments between the start of the call and its end";
    case.expected(expected, || wrong.to_owned());
}

pub(in crate::rules) fn output_text_joined(case: &mut Case<'_>, ending: &Ending<'_>) {
    let Some(whole) = ending.snapshot.response.string("output_text") else { return };
    let stream = case.stream;
    if !stream.is_whole() {
        return;
    }
    let mut items: Vec<&Node> = stream.items().collect();
    items.sort_by_key(|item| item.key.last());
    let parts: Vec<&Node> = items.into_iter().flat_map(|item| stream.children(item, Scope::Part)).collect();
    // A part that was never added may be incomplete.
    if parts.iter().any(|part| part.state() == NodeState::Implied) {
        return;
    }
    let texts = parts.into_iter().flat_map(|part| stream.children(part, Scope::Text));
    // A text without its final event is unknown.
    let Some(joined) = texts.map(final_text).collect::<Option<String>>() else { return };
    if joined != *whole {
        let (expected, actual) = (format!("{joined:?}"), format!("{whole:?}"));
        case.fault("/response/output_text", &short(&expected), &short(&actual), || {
            "output_text differs from the joined final texts".to_owned()
        });
    }
}

fn final_text(text: &Node) -> Option<String> {
    text.closing.get().map(Object::text).and_then(spec::json::string).map(Into::into)
}

pub(in crate::rules) fn rewrite_before_text_done(case: &mut Case<'_>) {
    let stream = case.stream;
    let is_rewrite = case.info().is_some_and(|info| info.scope == Scope::Rewrite);
    if !is_rewrite || !stream.is_whole() {
        return;
    }
    // Usually the last item is the open one.
    let parts = stream.items().rev().flat_map(|item| stream.children(item, Scope::Part));
    let mut texts = parts.flat_map(|part| stream.children(part, Scope::Text)).map(Node::state).peekable();
    if texts.peek().is_some() && texts.all(|state| state == NodeState::Closed) {
        case.expected("the rewrite before the text is done", || {
            "the rewrite is announced after the text was done".to_owned()
        });
    }
}

pub(in crate::rules) fn routing_before_items(case: &mut Case<'_>, _: &Node) {
    let is_routing = case.info().is_some_and(|info| info.scope == Scope::Routing);
    if is_routing && let Some(item) = case.stream.items().next() {
        let item = case.name(item);
        case.expected("the choice of the model before all items", || {
            format!("the model was chosen after {item} was added")
        });
    }
}
