//! Rules of the group `summary`.

use spec::table::Scope;

use super::part;
use crate::engine::Case;
use crate::engine::{Node, Object, Place, State, short};

pub(super) fn starts_empty(case: &mut Case<'_>, _: &Node, part: &Object<'_>) {
    if let Some(raw) = part.get("text").filter(|raw| raw.starts_with('"') && *raw != "\"\"") {
        case.fault("/part/text", "\"\"", &short(raw), || "the summary part is added with text".to_owned());
    }
}

pub(super) fn count_agrees(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    if case.protocol.scope_events(Scope::SummaryPart).opens {
        part::count(case, node, item, Scope::SummaryPart, "summary");
    }
}

pub(super) fn one_at_a_time(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    if !case.protocol.scope_events(Scope::SummaryPart).closes {
        return;
    }
    let stream = case.stream;
    let Some(item) = stream.parent(node) else { return };
    if item.open_within(Scope::SummaryPart) <= usize::from(node.state() == State::Open) {
        return;
    }
    let is_other = |other: &&Node| other.state() == State::Open && !std::ptr::eq(*other, node);
    if let Some(open) = stream.children(item, Scope::SummaryPart).find(is_other) {
        let (name, open) = (case.name(node), case.name(open));
        let place = Place { expected: Some("the previous part closed"), ..Place::WHOLE };
        case.report(&place, || format!("{name} is added while {open} is still open"));
    }
}
