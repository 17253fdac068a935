//! Rules of the groups `tool-use` and `server-tool`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use spec::json;
use spec::table::Scope;

use super::{CALLS, CUT_OFF, SERVER_CALLS, blocks, is_called_by_code};
use crate::engine::{Case, FaultPlace, Node, Object, short};
use crate::rules::non_empty;
use crate::rules::request::{self, no_object};

/// Number of blocks at the start of a message that may be results of calls before it.
const FEW: usize = 64;

/// Usually empty, as the input is streamed.
fn input<'b>(block: &'b Object<'_>) -> Option<&'b str> {
    let input = block.value("input")?;
    json::members(input).is_none_or(|members| !members.is_empty()).then_some(input)
}

pub(in crate::rules) fn starts_without_input(case: &mut Case<'_>, _: &Node, block: &Object<'_>) {
    if let Some(input) = input(block).filter(|_| !is_called_by_code(block)) {
        case.fault("/content_block/input", "{}", &short(input), || {
            "the tool use starts with its input".to_owned()
        });
    }
}

pub(in crate::rules) fn input_once(case: &mut Case<'_>, deltas: &Node) {
    let block = case.stream.parent(deltas).filter(|_| !deltas.joined.is_empty());
    let Some(block) = block else { return };
    if let Some(input) = block.opening.get().and_then(input) {
        let (name, input) = (case.name(block), short(input));
        case.fault("/delta/partial_json", "no delta, as the input is known", "a delta", || {
            format!("{name} started with the input {input}, and has deltas of it, too")
        });
    }
}

pub(in crate::rules) fn named(case: &mut Case<'_>, _: &Node, block: &Object<'_>) {
    let message = |name: &str| format!("the tool use has an empty {name}");
    non_empty(case, block, "/content_block", &["id", "name"], message);
}

pub(in crate::rules) fn input_json(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let Some(reason) = message.reason() else { return };
    let stream = case.stream;
    if CUT_OFF.contains(&reason) || stream.has_gap {
        return;
    }
    let is_wrong = |input: &&Node| {
        let text = input.joined.trim();
        !input.partial && !text.is_empty() && json::members(text).is_none()
    };
    let wrong: Vec<(&Node, &Node)> = blocks(case.stream, &CALLS)
        .flat_map(|block| stream.children(block, Scope::Input).filter(is_wrong).map(move |it| (block, it)))
        .collect();
    for (block, input) in wrong {
        let (name, actual) = (case.name(block), short(&input.joined));
        let form = no_object(&input.joined);
        let place =
            FaultPlace { expected: Some("a JSON object"), actual: Some(&actual), form, ..FaultPlace::WHOLE };
        case.report(&place, || format!("the deltas of {name} do not join to a JSON object"));
    }
}

pub(in crate::rules) fn input_complete(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    if message.reason() != Some("tool_use") {
        return;
    }
    let stream = case.stream;
    for block in blocks(stream, &["tool_use"]) {
        let Some(opening) = block.opening.get() else { continue };
        let joined = stream.children(block, Scope::Input).next();
        let text = match joined {
            Some(joined) if joined.partial => continue,
            Some(joined) if !joined.joined.trim().is_empty() => &*joined.joined,
            _ => input(opening).unwrap_or("{}"),
        };
        request::strict_arguments(case, block, text);
    }
}

fn answered(block: &Node) -> Option<Cow<'_, str>> {
    let is_result = block.kind().is_some_and(|kind| kind.ends_with("_tool_result"));
    is_result.then(|| block.opening.get()?.string("tool_use_id")).flatten()
}

pub(in crate::rules) fn result_named(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    let Some(id) = answered(node) else { return };
    let mut before = case.stream.items().take(FEW).filter(|other| !std::ptr::eq(*other, node));
    // The first blocks can be results of calls in the message before.
    let is_first = before.all(|other| !other.opening.is_set() || answered(other).is_some());
    let is_known = node.id() != Some(&*id) && case.stream.nodes.has_item(&id);
    if !is_first && !is_known {
        let actual = format!("{id:?}");
        case.fault("/content_block/tool_use_id", "the id of a call before it", &actual, || {
            format!("the result is that of {actual}, which is no call of the message")
        });
    }
}

pub(in crate::rules) fn answered_in_turn(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    if message.reason() != Some("end_turn") || case.stream.has_gap {
        return;
    }
    let stream = case.stream;
    let answers: BTreeSet<_> = stream.items().filter_map(answered).collect();
    let is_open = |id: &str| !answers.contains(id);
    let open = blocks(stream, &SERVER_CALLS).find(|call| call.id().is_some_and(is_open));
    if let Some(call) = open {
        let name = case.name(call);
        case.fault_of_event("a block with its result", "none", || {
            format!("the turn ends, but {name} has no result")
        });
    }
}
