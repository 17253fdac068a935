//! Rules of the groups `message` and `error`.

use spec::json;
use spec::table::{Scope, Slot};

use super::{is_call_by_code, is_called_by_code};
use crate::engine::{Case, Node, Object, Snapshot, Stream, short};
use crate::rules::non_empty;
use crate::rules::request::is_complete;

pub(in crate::rules) fn starts_empty(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(content) = snapshot.response.get("content").filter(|content| *content != "[]") else { return };
    let blocks = json::entries(content).unwrap_or_default();
    if blocks.into_iter().any(|block| !is_called_by_code(&Object::new(block))) {
        case.fault("/message/content", "[]", &short(content), || {
            "the message starts with content".to_owned()
        });
    }
}

pub(in crate::rules) fn identified(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let message = |name: &str| format!("the message has an empty {name}");
    non_empty(case, snapshot.response, "/message", &["id", "model"], message);
}

/// Output tokens of an answer that is empty because the model takes its turn for complete, at most.
const EMPTY: f64 = 4.0;

pub(in crate::rules) fn has_content(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let Some(reason @ ("end_turn" | "max_tokens")) = message.reason() else { return };
    let stream = case.stream;
    let starts_with_some = || {
        let blocks = stream.first_snapshot.get().and_then(|message| message.entries("content"));
        blocks.is_some_and(|blocks| !blocks.is_empty())
    };
    let has_content = stream.items().any(|block| !is_empty_text(stream, block)) || starts_with_some();
    let output = case.usage(Slot::Usage).output;
    let is_brief = output.is_some_and(|tokens| tokens > 0.0 && tokens <= EMPTY);
    if has_content || is_brief || stream.has_gap {
        return;
    }
    case.fault("/delta/stop_reason", "content before it", &format!("{reason:?}"), || match output {
        Some(tokens) => format!("the message ends without content, but has {tokens} output tokens"),
        None => "the message ends without content".to_owned(),
    });
}

/// Another rule reports a text that is not streamed.
fn is_empty_text(stream: &Stream, block: &Node) -> bool {
    let has_text = || stream.children(block, Scope::Text).any(|it| it.partial || !it.joined.is_empty());
    let starts_empty = || block.opening.get().and_then(|block| block.get("text")) == Some("\"\"");
    block.kind() == Some("text") && !block.partial && !has_text() && starts_empty()
}

pub(in crate::rules) fn text_not_empty(case: &mut Case<'_>, message: &Node, delta: &Object<'_>) {
    let is_complete = is_complete(case, message);
    let stream = case.stream;
    if stream.has_gap || delta.value("stop_reason").is_none() {
        return;
    }
    // The last block of a message that was cut off may be empty.
    let last = stream.items().next_back().filter(|_| !is_complete);
    let is_cut = |block: &Node| last.is_some_and(|last| std::ptr::eq(last, block));
    // An answer that is empty as a whole is one block without text.
    let is_whole = stream.items().nth(1).is_none();
    let is_meant = |block: &&Node| !is_whole && is_empty_text(stream, block) && !is_cut(block);
    if let Some(empty) = stream.items().find(is_meant) {
        let name = case.name(empty);
        case.fault_of_event("a text", "none", || format!("{name} is a text block without text"));
    }
}

pub(in crate::rules) fn starts_without_reason(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    for (member, noun) in [("stop_reason", "stop reason"), ("stop_sequence", "stop sequence")] {
        let Some(value) = snapshot.response.value(member) else { continue };
        if !is_call_by_code(snapshot.response) {
            case.fault(&format!("/message/{member}"), "null", &short(value), || {
                format!("the message starts with the {noun} {}", short(value))
            });
            return;
        }
    }
}

pub(in crate::rules) fn error_is_last(case: &mut Case<'_>) {
    let Some(name) = case.record().and_then(|record| record.event_type.as_deref()) else { return };
    let name = name.to_owned();
    case.fault_of_event("the end of the stream", &name, || format!("{name} was sent after an error"));
}
