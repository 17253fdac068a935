//! Rules of the groups `message` and `error`.

use spec::table::Scope;

use super::{blocks, is_call_by_code, is_called_by_code};
use crate::engine::{Case, Node, Object, Snapshot, short};
use crate::rules::non_empty;

pub(in crate::rules) fn starts_empty(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let blocks = snapshot.response.entries("content").unwrap_or_default();
    if blocks.into_iter().any(|block| !is_called_by_code(&Object::new(block))) {
        let content = snapshot.response.get("content").unwrap_or_default();
        case.fault("/message/content", "[]", &short(content), || {
            "the message starts with content".to_owned()
        });
    }
}

pub(in crate::rules) fn identified(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let message = |name: &str| format!("the message has an empty {name}");
    non_empty(case, snapshot.response, "/message", &["id", "model"], message);
}

pub(in crate::rules) fn has_content(case: &mut Case<'_>, _: &Node, delta: &Object<'_>) {
    let is_empty = case.stream.items().next().is_none() && !case.stream.has_gap;
    let start = case.stream.first_snapshot.get();
    let has_started_with_some =
        start.is_some_and(|message| message.entries("content").is_some_and(|blocks| !blocks.is_empty()));
    if delta.plain("stop_reason") == Some("end_turn") && is_empty && !has_started_with_some {
        case.fault("/delta/stop_reason", "a block before it", "\"end_turn\"", || {
            "the message ends its turn without a block".to_owned()
        });
    }
}

pub(in crate::rules) fn text_not_empty(case: &mut Case<'_>, _: &Node, delta: &Object<'_>) {
    // The last block of a message that was cut off may be empty.
    let is_cut = !matches!(delta.plain("stop_reason"), Some("end_turn" | "tool_use"));
    let stream = case.stream;
    if is_cut || stream.has_gap {
        return;
    }
    let has_text = |block: &&Node| {
        stream.children(block, Scope::Text).any(|text| text.partial || !text.joined.is_empty())
    };
    // Another rule reports a text that is not streamed.
    let starts_empty =
        |block: &&Node| block.opening.get().and_then(|block| block.get("text")) == Some("\"\"");
    // An answer that is empty as a whole is one block without text.
    let is_whole = stream.items().nth(1).is_none();
    let mut texts = blocks(stream, &["text"]).filter(|_| !is_whole);
    if let Some(empty) = texts.find(|block| !has_text(block) && starts_empty(block)) {
        let name = case.name(empty);
        case.fault_of_event("a text", "none", || format!("{name} is a text block without text"));
    }
}

pub(in crate::rules) fn citation_before_text(case: &mut Case<'_>, block: &Node) {
    let is_citation = case.info().is_some_and(|info| info.scope == Scope::Citation);
    let stream = case.stream;
    if is_citation && stream.children(block, Scope::Text).any(|text| !text.joined.is_empty()) {
        let name = case.name(block);
        case.expected("the citation before the text", || {
            format!("a citation of {name} comes after its text")
        });
    }
}

pub(in crate::rules) fn starts_without_reason(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(reason) = snapshot.response.value("stop_reason") else { return };
    if !is_call_by_code(snapshot.response) {
        case.fault("/message/stop_reason", "null", &short(reason), || {
            format!("the message starts with the stop reason {}", short(reason))
        });
    }
}

/// Reports an event after an error.
pub(in crate::rules) fn error_is_last(case: &mut Case<'_>) {
    let Some(name) = case.record().and_then(|record| record.event_type.as_deref()) else { return };
    let name = name.to_owned();
    case.fault_of_event("the end of the stream", &name, || format!("{name} was sent after an error"));
}
