//! Rules of the group `tool-call`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use catalogue::Level;
use spec::json::{self, values};
use spec::table::Scope;

use crate::engine::{Case, FaultPlace, Node, Object, Record, short};
use crate::rules::request::{self, no_object};

/// Number of calls among which a later one is searched.
const FEW: usize = 64;

/// Only the first fragment has a name.
fn name_in<'c>(call: &'c Object<'_>) -> Option<Cow<'c, str>> {
    name_of(&["function", "custom"].map(|name| call.value(name).unwrap_or_default()))
}

/// Of a function or a custom tool.
fn name_of<'c>(inner: &[&'c str; 2]) -> Option<Cow<'c, str>> {
    let inner = inner.iter().find(|inner| inner.starts_with('{'))?;
    json::string_member(inner, "name").filter(|name| !name.is_empty())
}

pub(in crate::rules) fn named(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    if name_in(call).is_none() {
        case.fault_of_event("a name beside the id", "none", || {
            "the tool call begins without a name".to_owned()
        });
    }
    if call.get("id") == Some("\"\"") {
        case.fault_of_event("a non-empty id", "\"\"", || "the tool call begins with an empty id".to_owned());
    }
}

pub(in crate::rules) fn typed(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    if call.value("type").is_none() {
        case.fault_of_event("a type beside the id", "none", || {
            "the tool call begins without a type".to_owned()
        });
    }
}

pub(in crate::rules) fn name_once(case: &mut Case<'_>, arguments: &Node) {
    let Some(record) = case.record() else { return };
    let fragment = record.entry().map(|(fragment, _)| fragment).filter(|it| record.may_have(it, "name"));
    let Some(fragment) = fragment else { return };
    let [function, custom, id] = values(fragment, ["function", "custom", "id"]);
    let Some(name) = name_of(&[function, custom]) else { return };
    if json::string(id).is_some_and(|id| !id.is_empty()) {
        return;
    }
    let Some(call) = case.stream.parent(arguments) else { return };
    if call.opening.get().is_some_and(|opening| name_in(opening).is_some()) {
        let call = case.name(call);
        case.fault_of_event("no name", &format!("{name:?}"), || {
            format!("a later fragment of {call} has a name, too")
        });
    }
}

pub(in crate::rules) fn once_a_chunk(case: &mut Case<'_>, arguments: &Node) {
    // A chunk may have many calls, and is checked once for all of them.
    let Some(record) = case.record().filter(|record| record.is_first_of_kind()) else { return };
    let Some((_, false)) = record.entry() else { return };
    let all = record.filled("/choices/*/delta/tool_calls");
    let Some(all) = json::at(record.data(), &all).and_then(json::entries) else { return };
    let mut fragments: BTreeMap<&str, usize> = BTreeMap::new();
    for index in all.iter().filter_map(|fragment| json::at(fragment, "/index")) {
        *fragments.entry(index).or_default() += 1;
    }
    let Some((index, count)) = fragments.into_iter().find(|(_, count)| *count > 1) else { return };
    let stream = case.stream;
    let choice = stream.parent(arguments).and_then(|call| stream.parent(call));
    let mut calls = choice.into_iter().flat_map(|choice| stream.children(choice, Scope::ToolCall));
    let is_it = |call: &&Node| call.key.entry().is_some_and(|key| index.parse() == Ok(key));
    let Some(call) = calls.find(is_it) else { return };
    let (call, actual) = (case.name(call), count.to_string());
    case.fault_of_event("one fragment", &actual, || format!("a chunk has {count} fragments of {call}"));
}

fn functions<'c>(case: &Case<'c>, choice: &'c Node) -> Vec<(&'c Node, &'c Node)> {
    let is_cut = matches!(choice.reason(), Some("length" | "content_filter"));
    let stream = case.stream;
    if is_cut || stream.has_gap {
        return Vec::new();
    }
    let is_custom = |call: &Node| call.opening.get().is_some_and(|call| call.value("custom").is_some());
    let calls = stream.children(choice, Scope::ToolCall).filter(|call| !is_custom(call));
    let arguments = |call| stream.children(call, Scope::Arguments).map(move |arguments| (call, arguments));
    calls.flat_map(arguments).filter(|(_, arguments)| !arguments.partial).collect()
}

pub(in crate::rules) fn strict(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    for (call, arguments) in functions(case, choice) {
        request::strict_arguments(case, call, &arguments.joined);
    }
}

pub(in crate::rules) fn function_call_of_value(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    function_call(case);
}

pub(in crate::rules) fn function_call_of_point(case: &mut Case<'_>, _: &Node) {
    function_call(case);
}

/// The old form of a call is wrong beside the new one, and if the request has no functions.
fn function_call(case: &mut Case<'_>) {
    let may_have_it = |record: &&Record<'_>| record.may_have(record.data(), "function_call");
    let Some(record) = case.record().filter(may_have_it) else { return };
    let is_old = |choice: &&str| {
        let delta = json::at(choice, "/delta/function_call");
        delta.is_some_and(|call| call != "null")
            || json::at(choice, "/finish_reason") == Some("\"function_call\"")
    };
    let choices = record.member("choices").and_then(json::entries).unwrap_or_default();
    if !choices.iter().any(is_old) {
        return;
    }
    let stream = case.stream;
    let is_beside = stream.items().any(|choice| stream.children(choice, Scope::ToolCall).next().is_some());
    let is_unasked = case.head.asked.as_ref().is_some_and(|asked| asked.value("functions").is_none());
    if is_beside || is_unasked {
        let why = if is_beside { "beside tool_calls" } else { "and the request has no functions" };
        case.fault_of_event("tool_calls", "function_call", || format!("the call is in function_call, {why}"));
    }
}

pub(in crate::rules) fn arguments_json(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    for (call, arguments) in functions(case, choice) {
        if json::members(arguments.joined.trim()).is_some() {
            continue;
        }
        let (name, actual) = (case.name(call), short(&arguments.joined));
        let level = case.bound.level;
        if arguments.joined.is_empty() {
            case.limit(Level::Should);
        }
        let place = FaultPlace {
            expected: Some("a JSON object"),
            actual: Some(&actual),
            form: no_object(&arguments.joined),
            follows: call.doubt,
            ..FaultPlace::WHOLE
        };
        case.report(&place, || format!("the arguments of {name} are not a JSON object"));
        case.bound.level = level;
    }
}

pub(in crate::rules) fn one_after_another(case: &mut Case<'_>, arguments: &Node) {
    let stream = case.stream;
    let Some(call) = stream.parent(arguments) else { return };
    let Some(choice) = stream.parent(call) else { return };
    // A chunk may have several calls as a whole.
    let is_here = |at: &Node| at.opened.get().zip(case.record()).is_some_and(|(at, record)| at.is_of(record));
    let is_later = |other: &&Node| other.key.entry() > call.key.entry() && !is_here(other);
    // There may be many before it.
    let last = stream.children(choice, Scope::ToolCall).rev().take(FEW);
    if let Some(later) = last.filter(is_later).last() {
        let (name, later) = (case.name(call), case.name(later));
        case.expected("all arguments before the next call", || {
            format!("arguments of {name} follow the start of {later}")
        });
    }
}
