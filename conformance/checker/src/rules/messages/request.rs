//! Rules of the Messages API that need the request.

use std::borrow::Cow;

use spec::json;
use spec::table::{Scope, Slot};

use super::{SERVER_CALLS, blocks};
use crate::engine::{Asked, Case, Node, Object, Snapshot};
use crate::rules::request;

pub(in crate::rules) fn any_chosen(case: &mut Case<'_>, message: &Node, delta: &Object<'_>) {
    // A tool of the server is a tool, too.
    if blocks(case.stream, &SERVER_CALLS).next().is_none() {
        request::any_chosen(case, message, delta);
    }
}

pub(in crate::rules) fn one_chosen(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    if blocks(case.stream, &SERVER_CALLS).next().is_none() {
        request::one_chosen(case, message);
    }
}

pub(in crate::rules) fn sequence_asked(case: &mut Case<'_>, _: &Node, delta: &Object<'_>) {
    let Some(asked) = &case.head.asked else { return };
    let Some(sequence) = delta.string("stop_sequence") else { return };
    let stops = asked.stops();
    if !stops.contains(&sequence) {
        let expected = if stops.is_empty() { "null".to_owned() } else { format!("one of {stops:?}") };
        case.fault("/delta/stop_sequence", &expected, &format!("{sequence:?}"), || {
            format!("the message stops at {sequence:?}, which is not among the stop_sequences of the request")
        });
    }
}

pub(in crate::rules) fn within_limit(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    request::within_limit(case, "/usage/output_tokens", case.usage(Slot::Usage).output, 1.0);
}

pub(in crate::rules) fn limit_reached(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let Some(reason) = case.head.asked.as_ref().and_then(|_| message.reason()) else { return };
    request::limit_reached(case, case.usage(Slot::Usage).output, reason, "max_tokens");
}

pub(in crate::rules) fn model(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let model = snapshot.response.string("model").unwrap_or_default();
    request::model(case, "/message/model", &model);
}

pub(in crate::rules) const THINKING: [&str; 2] = ["thinking", "redacted_thinking"];

fn thinking<'c>(case: &Case<'c>) -> Option<Cow<'c, str>> {
    case.head.asked.as_ref()?.at("/thinking/type").and_then(json::string)
}

pub(in crate::rules) fn thinking_first(case: &mut Case<'_>, _: &Node, delta: &Object<'_>) {
    let is_thinking = |block: &Node| block.kind().is_some_and(|kind| THINKING.contains(&kind));
    let first = case.stream.items().next().filter(|first| !is_thinking(first));
    let has_thought = blocks(case.stream, &THINKING).next().is_some();
    let is_enabled = thinking(case).is_some_and(|how| how == "enabled");
    if let Some(first) = first.filter(|_| is_enabled && has_thought && delta.value("stop_reason").is_some()) {
        let name = case.name(first);
        let kind = first.kind().unwrap_or_default().to_owned();
        case.fault_of_event("thinking", &kind, || format!("{name} is before the thinking"));
    }
}

pub(in crate::rules) fn not_when_disabled(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    if thinking(case).is_some_and(|how| how == "disabled") {
        let name = case.name(node);
        case.fault("/content_block/type", "no thinking", "thinking", || {
            format!("{name} is thinking, which the request disables")
        });
    }
}

pub(in crate::rules) fn omitted(case: &mut Case<'_>, node: &Node) {
    let display = case.head.asked.as_ref().and_then(|asked| asked.at("/thinking/display"));
    if display != Some("\"omitted\"") {
        return;
    }
    if let Some(text) = node.whole_text(case.stream.has_gap).filter(|text| !text.is_empty()) {
        let name = case.name(node);
        let actual = format!("{} characters", text.chars().count());
        case.fault_of_event("no text", &actual, || format!("{name} has a text, which the request omits"));
    }
}

fn demands_json(asked: &Asked) -> bool {
    let formats = ["/output_config/format/type", "/output_format/type"];
    formats.into_iter().find_map(|format| asked.at(format)) == Some("\"json_schema\"")
}

pub(in crate::rules) fn format_kept(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let is_asked = request::of_whole(case).is_some_and(demands_json);
    if !is_asked || message.reason() != Some("end_turn") {
        return;
    }
    let stream = case.stream;
    let texts: Vec<&Node> =
        blocks(stream, &["text"]).flat_map(|block| stream.children(block, Scope::Text)).collect();
    if texts.iter().all(|text| !text.partial) {
        let text: String = texts.iter().map(|text| text.joined.as_str()).collect();
        request::json(case, &text, false);
    }
}
