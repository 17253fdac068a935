//! Rules of the groups `choice` and `completion`.

use spec::json;
use spec::table::Scope;

use crate::engine::{Case, Node, Object, Place, number};

/// Years in which completions are created, as seconds.
const SECONDS: std::ops::Range<f64> = 1e9..4e9;

pub(in crate::rules) fn has_role(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let stream = case.stream;
    if stream.children(choice, Scope::Role).next().is_none() && !stream.has_gap {
        let name = case.name(choice);
        let place = Place { expected: Some("a delta with a role"), actual: Some("none"), ..Place::WHOLE };
        case.report(&place, || format!("{name} finishes, but has no role"));
    }
}

pub(in crate::rules) fn calls_are_there(case: &mut Case<'_>, choice: &Node, finish: &Object<'_>) {
    let stream = case.stream;
    if finish.plain("finish_reason") == Some("tool_calls")
        && stream.children(choice, Scope::ToolCall).next().is_none()
        && !stream.has_gap
    {
        let name = case.name(choice);
        let expected = Some("a tool call before it");
        let place = Place { expected, actual: Some("\"tool_calls\""), ..Place::WHOLE };
        case.report(&place, || format!("{name} finishes for tool calls, but has none"));
    }
}

pub(in crate::rules) fn has_content(case: &mut Case<'_>, choice: &Node, finish: &Object<'_>) {
    let stream = case.stream;
    let has_text =
        |scope: Scope| stream.children(choice, scope).any(|text| !text.joined.is_empty() || text.partial);
    let is_empty = !has_text(Scope::Content)
        && !has_text(Scope::Refusal)
        && stream.children(choice, Scope::ToolCall).next().is_none();
    if finish.plain("finish_reason") == Some("stop") && is_empty && !stream.has_gap {
        let name = case.name(choice);
        let place = Place { expected: Some("a text, a refusal or a call"), ..Place::WHOLE };
        case.report(&place, || format!("{name} stops without content"));
    }
}

pub(in crate::rules) fn created_in_seconds(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Some(created) = json::at(record.data(), "/created").and_then(number) else { return };
    if !SECONDS.contains(&created) {
        case.fault("/created", "a Unix time in seconds, such as 1785000000", &created.to_string(), || {
            format!("created is {created}, not a Unix time in seconds")
        });
    }
}
