//! Rules of the group `item`.

use catalogue::Level;
use spec::table::{Scope, ScopeInfo};

use super::output::texts_of;
use super::part;
use crate::engine::{Case, Ending};
use crate::engine::{Node, Object, same, short};
use crate::rules::non_empty;

pub(in crate::rules) fn starts_empty(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    let api = case.dialect().api;
    let Some(kind) = item.plain("type") else { return };
    let (place, zero) = match kind {
        "message" => ("/content", "[]"),
        "reasoning" => ("/summary", "[]"),
        _ => {
            // Without events for its text, that can only be here.
            let is_streamed = |level: &&ScopeInfo| {
                level.of.contains(&kind)
                    && level.own_index.is_none()
                    && case.protocol.scope_events(level.scope).closes
            };
            let place = api.scopes().filter(is_streamed).find_map(|level| level.in_parent);
            let Some(place) = place else { return };
            (place, "\"\"")
        }
    };
    let Some(raw) = item.at(place).filter(|raw| *raw != zero) else { return };
    let is_empty = match spec::json::entries(raw) {
        Some(entries) => entries.is_empty(),
        None => raw == "\"\"" || !raw.starts_with('"'),
    };
    if !is_empty {
        // Clients do not join the content of others.
        let is_joined = api.client_call.is_some_and(|call| call.types.contains(&kind));
        if !is_joined {
            case.limit(Level::Should);
        }
        let name = place.rsplit('/').next().unwrap_or_default();
        let pointer = format!("/item{place}");
        case.fault(&pointer, zero, &short(raw), || format!("the item is added with non-empty {name}"));
    }
}

pub(in crate::rules) fn message_from_assistant(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    let Some(role) = item.string("role").filter(|role| role != "assistant") else { return };
    let actual = format!("{role:?}");
    case.fault("/item/role", "\"assistant\"", &actual, || {
        format!("the message has role {actual}, not \"assistant\"")
    });
}

pub(in crate::rules) fn has_id(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    non_empty(case, item, "/item", &["id"], |_| {
        format!("the {} is added with an empty id", item.plain("type").unwrap_or("item"))
    });
}

pub(in crate::rules) fn call_named(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    non_empty(case, item, "/item", &["name", "call_id"], |name| {
        format!("the {} has an empty {name}", item.plain("type").unwrap_or_default())
    });
}

pub(in crate::rules) fn fields_stable(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let Some(added) = node.opening.get() else { return };
    // `call/identity-kept` checks the calls that clients answer.
    let names: &[&str] = match item.plain("type") {
        Some("tool_search_call") => return,
        Some("function_call" | "custom_tool_call") => &["phase"],
        _ => &["name", "call_id", "role", "server_label", "phase"],
    };
    for name in names {
        // `item/call-named` reports empty values.
        let Some(before) = added.value(name).filter(|raw| *raw != "\"\"") else { continue };
        let Some(after) = item.get(name).filter(|after| !same(before, after)) else { continue };
        case.fault(&format!("/item/{name}"), &short(before), &short(after), || {
            format!("{name} is {}, but the item was added with {}", short(after), short(before))
        });
    }
}

pub(in crate::rules) fn finished(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    let Some(status) = item.plain("status") else { return };
    // A failure or a cancellation leaves the items of a body as they were.
    let is_cut_short =
        |response: &Object<'_>| !matches!(response.plain("status"), Some("completed" | "incomplete"));
    if case.is_of_body() && case.stream.first_snapshot.get().is_some_and(is_cut_short) {
        return;
    }
    if !matches!(status, "in_progress" | "queued" | "searching" | "generating" | "interpreting") {
        return;
    }
    match item.plain("type") {
        Some("message") => {}
        Some("function_call" | "custom_tool_call") => case.limit(Level::Should),
        _ => case.limit(Level::May),
    }
    let actual = format!("{status:?}");
    case.fault("/item/status", "\"completed\" or \"incomplete\"", &actual, || {
        format!("the item is done, but its status is {actual}")
    });
}

pub(in crate::rules) fn content_kept(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    if !case.has_seen(node) {
        return;
    }
    let content = part::entries(case, node, item, Scope::Part, "content");
    let Some(has) = content.map(|entries| entries.len()) else { return };
    let is_lost = |part: &&Node| {
        part.key.entry().is_some_and(|index| index >= has as u64)
            && texts_of(case, part).iter().any(|text| !text.is_empty())
    };
    let Some(part) = stream.children(node, Scope::Part).find(is_lost) else { return };
    let (part, streamed) = (case.name(part), stream.children(node, Scope::Part).count());
    case.fault("/item/content", &format!("{streamed} entries"), &has.to_string(), || {
        format!("{part} was streamed, but the finished item lacks it")
    });
}

pub(in crate::rules) fn keys_kept(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let Some(added) = node.opening.get() else { return };
    for (name, value) in added.missing_in(item) {
        case.lacks("/item", name, || {
            format!("the item was added with {name} {}, but is done without it", short(value))
        });
    }
}

/// The rule is checked when the next item opens.
pub(in crate::rules) fn incomplete_last(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    if let Some(earlier) = case.stream.incomplete() {
        let (name, earlier) = (case.name(node), case.name(earlier));
        case.expected("no item after an incomplete one", || {
            format!("{name} comes after {earlier}, which ended as incomplete")
        });
    }
}

pub(in crate::rules) fn incomplete_before_last(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let Some(last) = case.stream.items().next_back().filter(|last| !std::ptr::eq(*last, node)) else {
        return;
    };
    if item.is_cut_off(&case.dialect().api.status) {
        let last = case.name(last);
        case.fault("/item/status", "a status other than incomplete: items follow", "\"incomplete\"", || {
            format!("the item ends as incomplete, but {last} was added after it")
        });
    }
}

pub(in crate::rules) fn incomplete_ends_response(case: &mut Case<'_>, ending: &Ending<'_>) {
    if !ending.snapshot.is_completed() || case.dialect().ending("incomplete").is_none() {
        return;
    }
    let Some(item) = case.stream.incomplete() else { return };
    let (name, status) = (case.name(item), ending.snapshot.response.get("status").unwrap_or("no status"));
    case.fault("/response/status", "\"incomplete\"", status, || {
        format!("the response is completed, but {name} ended as incomplete")
    });
}
