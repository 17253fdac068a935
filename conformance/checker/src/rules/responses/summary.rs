//! Rules of the group `summary`.

use std::borrow::Cow;

use spec::table::Scope;

use super::output::text_of;
use super::part;
use crate::engine::Case;
use crate::engine::{Node, NodeState, Object, short};

pub(in crate::rules) fn starts_empty(case: &mut Case<'_>, _: &Node, part: &Object<'_>) {
    if let Some(raw) = part.get("text").filter(|raw| raw.starts_with('"') && *raw != "\"\"") {
        case.fault("/part/text", "\"\"", &short(raw), || "the summary part is added with text".to_owned());
    }
}

pub(in crate::rules) fn equals_item(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    if !case.has_seen(node) {
        return;
    }
    let Some(entries) = part::entries(case, node, item, Scope::SummaryPart, "summary") else { return };
    for child in stream.children(node, Scope::SummaryPart) {
        let Some(index) = child.key.entry() else { continue };
        let stated = texts_of(case, child);
        let entry = usize::try_from(index).ok().and_then(|index| entries.get(index));
        let text =
            entry.and_then(|raw| Object::new(raw).string("text").map(Cow::into_owned)).unwrap_or_default();
        // `summary/equals-part` reports texts that disagree.
        let Some(first) = stated.first().filter(|_| !stated.contains(&text)) else { continue };
        let (pointer, part) = (format!("/item/summary/{index}"), case.name(child));
        let (before, after) = (format!("{first:?}"), format!("{text:?}"));
        case.fault(&pointer, &short(&before), &short(&after), || match entry {
            Some(_) => format!("{pointer} differs from the text of {part}"),
            None => format!("{part} was streamed, but the finished item lacks it"),
        });
    }
}

fn texts_of(case: &Case<'_>, part: &Node) -> Vec<String> {
    let closed = part.closing.get().and_then(|closing| closing.string("text")).map(Cow::into_owned);
    let streamed = case.stream.children(part, Scope::SummaryText).filter_map(text_of);
    closed.into_iter().chain(streamed).filter(|text| !text.is_empty()).collect()
}

pub(in crate::rules) fn count_agrees(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    if case.protocol.scope_events(Scope::SummaryPart).opens {
        part::count(case, node, item, Scope::SummaryPart, "summary");
    }
}

pub(in crate::rules) fn one_at_a_time(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    if !case.protocol.scope_events(Scope::SummaryPart).closes {
        return;
    }
    let stream = case.stream;
    let Some(item) = stream.parent(node) else { return };
    if item.open_within(Scope::SummaryPart) <= usize::from(node.state() == NodeState::Open) {
        return;
    }
    let is_other = |other: &&Node| other.state() == NodeState::Open && !std::ptr::eq(*other, node);
    if let Some(open) = stream.children(item, Scope::SummaryPart).find(is_other) {
        let (name, open) = (case.name(node), case.name(open));
        case.expected("the previous part closed", || format!("{name} is added while {open} is still open"));
    }
}
