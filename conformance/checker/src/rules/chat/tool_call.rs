//! Rules of the group `tool-call`.

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use crate::engine::{Case, Node, Object, Place, short};

/// Number of calls among which a later one is searched.
const FEW: usize = 64;

pub(in crate::rules) fn named(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    let inner = ["function", "custom"].into_iter().find_map(|name| call.value(name)).map(Object::new);
    if inner.is_none_or(|inner| inner.string("name").is_none_or(|name| name.is_empty())) {
        let place = Place { expected: Some("a name beside the id"), actual: Some("none"), ..Place::WHOLE };
        case.report(&place, || "the tool call begins without a name".to_owned());
    }
}

pub(in crate::rules) fn arguments_json(case: &mut Case<'_>, choice: &Node, finish: &Object<'_>) {
    let is_cut =
        finish.plain("finish_reason").is_some_and(|reason| matches!(reason, "length" | "content_filter"));
    let stream = case.stream;
    if is_cut || stream.has_gap {
        return;
    }
    let is_custom = |call: &Node| call.opening.get().is_some_and(|call| call.value("custom").is_some());
    let calls = stream.children(choice, Scope::ToolCall).filter(|call| !is_custom(call));
    let wrong: Vec<(&Node, &Node)> = calls
        .flat_map(|call| stream.children(call, Scope::Arguments).map(move |arguments| (call, arguments)))
        .filter(|(_, arguments)| !arguments.partial && json::members(arguments.joined.trim()).is_none())
        .collect();
    for (call, arguments) in wrong {
        let (name, actual) = (case.name(call), short(&arguments.joined));
        let level = case.bound.level;
        if arguments.joined.is_empty() {
            case.limit(Level::Should);
        }
        let place = Place { expected: Some("a JSON object"), actual: Some(&actual), ..Place::WHOLE };
        case.report(&place, || format!("the arguments of {name} are not a JSON object"));
        case.bound.level = level;
    }
}

pub(in crate::rules) fn one_after_another(case: &mut Case<'_>, arguments: &Node) {
    let stream = case.stream;
    let Some(call) = stream.parent(arguments) else { return };
    let Some(choice) = stream.parent(call) else { return };
    let is_later = |other: &&Node| other.key.entry() > call.key.entry();
    // There may be many before it.
    let last = stream.children(choice, Scope::ToolCall).rev().take(FEW);
    if let Some(later) = last.filter(is_later).last() {
        let (name, later) = (case.name(call), case.name(later));
        let place = Place { expected: Some("all arguments before the next call"), ..Place::WHOLE };
        case.report(&place, || format!("arguments of {name} follow the start of {later}"));
    }
}
