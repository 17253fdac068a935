//! Rules of the group `part`.

use catalogue::Level;
use spec::table::Scope;

use crate::engine::Case;
use crate::engine::{Node, Object, entries_that_are, same, short};

/// The members of a part that are streamed.
const TEXTS: [&str; 2] = ["text", "refusal"];

pub(in crate::rules) fn starts_empty(case: &mut Case<'_>, _: &Node, part: &Object<'_>) {
    for name in TEXTS {
        if let Some(raw) = part.get(name).filter(|raw| raw.starts_with('"') && *raw != "\"\"") {
            case.fault(&format!("/part/{name}"), "\"\"", &short(raw), || {
                format!("the part is added with non-empty {name}")
            });
        }
    }
    if let Some(annotations) = part.entries("annotations").filter(|entries| !entries.is_empty()) {
        let actual = format!("{} annotations", annotations.len());
        case.fault("/part/annotations", "[]", &actual, || "the part is added with annotations".to_owned());
    }
}

pub(in crate::rules) fn equals_item(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    let Some(content) = entries(case, node, item, Scope::Part, "content") else { return };
    for child in stream.children(node, Scope::Part) {
        let Some((part, index)) = child.closing.get().zip(child.key.entry()) else { continue };
        let entry = usize::try_from(index).ok().and_then(|index| content.get(index));
        let Some(entry) = entry.filter(|raw| **raw != part.text()).map(|raw| Object::new(raw)) else {
            continue;
        };
        for name in TEXTS {
            let Some((before, after)) = part.string(name).zip(entry.string(name)) else { continue };
            if before != after {
                let (pointer, part) = (format!("/item/content/{index}/{name}"), case.name(child));
                let (before, after) = (format!("{before:?}"), format!("{after:?}"));
                case.fault(&pointer, &short(&before), &short(&after), || {
                    format!("{pointer} differs from the {name} that {part} was closed with")
                });
            }
        }
        let lists = part.value("annotations").zip(entry.value("annotations"));
        if let Some((before, after)) = lists.filter(|(before, after)| !same(before, after)) {
            let (pointer, part) = (format!("/item/content/{index}/annotations"), case.name(child));
            let whole = case.bound.level;
            case.limit(Level::Should);
            case.fault(&pointer, &short(before), &short(after), || {
                format!("{pointer} differs from the annotations that {part} was closed with")
            });
            case.bound.level = whole;
        }
    }
}

pub(in crate::rules) fn count_agrees(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    if case.protocol.scope_events(Scope::Part).opens {
        count(case, node, item, Scope::Part, "content");
    }
}

/// The entries usually equal the closed parts byte for byte.
pub(in crate::rules) fn entries<'i>(
    case: &Case<'_>,
    node: &Node,
    item: &'i Object<'_>,
    scope: Scope,
    list: &str,
) -> Option<Vec<&'i str>> {
    let closed = case.stream.children(node, scope).map(|child| child.closing.get().map(Object::text));
    entries_that_are(item.get(list)?, closed).or_else(|| item.entries(list))
}

pub(in crate::rules) fn count(case: &mut Case<'_>, node: &Node, item: &Object<'_>, scope: Scope, list: &str) {
    if !case.has_seen(node) {
        return;
    }
    let Some(entries) = entries(case, node, item, scope, list) else { return };
    let (streamed, has) = (case.stream.children(node, scope).count(), entries.len());
    if streamed != has {
        case.fault(&format!("/item/{list}"), &format!("{streamed} entries"), &has.to_string(), || {
            format!("the finished item has {has} entries in {list}, but {streamed} were streamed")
        });
    }
}
