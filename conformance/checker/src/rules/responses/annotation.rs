//! Rules of the group `annotation`.

use std::collections::BTreeSet;

use spec::table::Scope;

use crate::engine::Case;
use crate::engine::{Node, NodeState, Object};

/// The type of annotations that mark a range of characters.
const CITATION: &str = "url_citation";

pub(in crate::rules) fn before_text_done(case: &mut Case<'_>, part: &Node) {
    if case.info().is_none_or(|info| info.scope != Scope::Annotation) {
        return;
    }
    let mut texts = case.stream.children(part, Scope::Text);
    if texts.any(|text| text.state() == NodeState::Closed) {
        let part = case.name(part);
        case.fault(
            "/annotation",
            "annotations before the done event of the text",
            "an annotation after it",
            || format!("the annotation was sent after the text of {part} was done"),
        );
    }
}

pub(in crate::rules) fn range_in_part(case: &mut Case<'_>, _: &Node, part: &Object<'_>) {
    ranges(case, part, "/part");
}

/// Parts without a done event are checked when their item is closed.
pub(in crate::rules) fn range_in_item(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    // Only citations are checked, and most items have none.
    if !item.get("content").is_some_and(|content| content.contains(CITATION)) {
        return;
    }
    let parts = case.stream.children(node, Scope::Part).filter(|part| part.closing.is_set());
    let closed: BTreeSet<u64> = parts.filter_map(|part| part.key.entry()).collect();
    for (index, part) in item.entries("content").unwrap_or_default().into_iter().enumerate() {
        if !closed.contains(&(index as u64)) {
            ranges(case, &Object::new(part), &format!("/item/content/{index}"));
        }
    }
}

fn ranges(case: &mut Case<'_>, part: &Object<'_>, prefix: &str) {
    let Some(annotations) = part.entries("annotations").filter(|entries| !entries.is_empty()) else { return };
    let Some(length) = part.string("text").map(|text| text.chars().count() as u64) else { return };
    for (at, raw) in annotations.into_iter().enumerate() {
        let annotation = Object::new(raw);
        if annotation.plain("type") != Some(CITATION) {
            continue;
        }
        let index = |name: &str| annotation.get(name)?.parse::<u64>().ok();
        let (Some(start), Some(end)) = (index("start_index"), index("end_index")) else { continue };
        let pointer = |name: &str| format!("{prefix}/annotations/{at}/{name}");
        if end > length {
            case.fault(&pointer("end_index"), &format!("at most {length}"), &end.to_string(), || {
                format!("the citation ends at character {end}, but the text has {length} characters")
            });
        } else if start > end {
            case.fault(&pointer("start_index"), &format!("at most {end}"), &start.to_string(), || {
                format!("the citation starts at character {start}, after its end at {end}")
            });
        }
    }
}
