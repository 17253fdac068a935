//! Rules of the groups `choice` and `completion`.

use std::collections::BTreeSet;

use catalogue::Level;
use spec::json;
use spec::table::{Marker, Scope};

use crate::engine::{Case, Node, Object, Stream, number, short};
use crate::rules::logprobs::misspelled;

/// Years of completions, as seconds.
const SECONDS: std::ops::Range<f64> = 1e9..4e9;

pub(in crate::rules) fn index_gap(case: &mut Case<'_>) {
    let stream = case.stream;
    let ends_unmarked = case.dialect().framing.done != Marker::Required;
    if !(stream.has_ended() || ends_unmarked) || !stream.is_whole() {
        return;
    }
    let indices = || stream.items().filter_map(|choice| choice.key.entry());
    let is_elsewhere =
        |(place, choice): &(u64, &Node)| choice.key.entry().is_some_and(|index| index != *place);
    let Some((place, choice)) = (0..).zip(stream.items()).find(is_elsewhere) else { return };
    let (count, last) = (indices().collect::<BTreeSet<_>>().len() as u64, indices().max());
    let has_all = last.is_some_and(|last| last < count);
    if has_all {
        case.limit(Level::Should);
    } else if stream.error.is_set() {
        return;
    }
    let name = case.name(choice);
    let index = choice.key.entry().unwrap_or_default();
    case.look_at_opening(choice);
    case.fault("/choices/0/index", &place.to_string(), &index.to_string(), || {
        if has_all {
            format!("{name} appears before choice {place}")
        } else {
            format!("the choice has index {index}, but there is no choice {place}")
        }
    });
}

pub(in crate::rules) fn has_role(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let stream = case.stream;
    if stream.children(choice, Scope::Role).next().is_none() && !stream.has_gap {
        let name = case.name(choice);
        case.fault_of_event("a delta with a role", "none", || format!("{name} finishes, but has no role"));
    }
}

pub(in crate::rules) fn has_role_first(case: &mut Case<'_>, role: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let Some(choice) = stream.parent(role) else { return };
    if is_written(stream, choice) {
        let name = case.name(choice);
        case.expected("a role before all content", || format!("the role of {name} follows content of it"));
    }
}

pub(in crate::rules) fn has_finish_reason(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let Some(record) = case.record() else { return };
    if record.entry().is_some_and(|(choice, _)| record.object(choice).get("finish_reason").is_none()) {
        let choice = record.filled("/choices/*").into_owned();
        case.lacks(&choice, "finish_reason", || "the choice has no finish_reason".to_owned());
    }
}

pub(in crate::rules) fn calls_are_there(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let stream = case.stream;
    if choice.reason() == Some("tool_calls")
        && stream.children(choice, Scope::ToolCall).next().is_none()
        && !stream.has_gap
    {
        let name = case.name(choice);
        case.fault_of_event("a tool call before it", "\"tool_calls\"", || {
            format!("{name} finishes for tool calls, but has none")
        });
    }
}

pub(in crate::rules) fn has_content(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let has_text =
        |scope: Scope| stream.children(choice, scope).any(|text| !text.joined.is_empty() || text.partial);
    let is_empty = !has_text(Scope::Content)
        && !has_text(Scope::Refusal)
        && stream.children(choice, Scope::ToolCall).next().is_none();
    // No scope has spoken output.
    let model = case.record().and_then(|record| json::string(record.member("model")?)).unwrap_or_default();
    let is_spoken = model.contains("audio");
    if choice.reason() == Some("stop") && is_empty && !is_spoken && !stream.has_gap {
        let name = case.name(choice);
        case.expected("a text, a refusal or a call", || format!("{name} stops without content"));
    }
}

pub(in crate::rules) fn is_identified(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    for member in ["id", "model"] {
        if case.record().and_then(|record| record.member(member)) == Some("\"\"") {
            case.fault(&format!("/{member}"), "a non-empty string", "\"\"", || {
                format!("the chunk has an empty {member}")
            });
        }
    }
}

pub(in crate::rules) fn created_in_seconds(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Some(created) = record.member("created").and_then(number) else { return };
    if !SECONDS.contains(&created) {
        case.fault("/created", "a Unix time in seconds, such as 1785000000", &created.to_string(), || {
            format!("created is {created}, not a Unix time in seconds")
        });
    }
}

pub(super) fn is_written(stream: &Stream, choice: &Node) -> bool {
    let mut texts = stream.children(choice, Scope::Content).chain(stream.children(choice, Scope::Refusal));
    texts.any(|text| !text.joined.is_empty()) || stream.children(choice, Scope::ToolCall).next().is_some()
}

pub(in crate::rules) fn chunk_is_used(case: &mut Case<'_>, _: &Node) {
    let Some(record) = case.record() else { return };
    let value = |member| record.member(member).filter(|value| *value != "null");
    let is_empty = value("choices").and_then(json::entries).is_some_and(|choices| choices.is_empty());
    if is_empty && value("moderation").is_none() {
        case.fault("/choices", "a choice, or the usage beside", "[]", || {
            "the chunk has neither choices nor the usage".to_owned()
        });
    }
}

pub(in crate::rules) fn has_choices(case: &mut Case<'_>, _: &Node) {
    let Some(record) = case.record().filter(|record| !record.is_error) else { return };
    if record.member("choices").is_some() {
        return;
    }
    // Chunks that keep a connection with spoken output alive have none.
    let stream = case.stream;
    if stream.items().next().is_none() || stream.items().any(|choice| is_written(stream, choice)) {
        case.lacks("", "choices", || "the chunk has no choices".to_owned());
    }
}

pub(in crate::rules) fn logprobs_joined(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let text = stream.children(choice, Scope::Content).find(|text| !text.partial && !stream.has_gap);
    let Some(text) = text.filter(|text| !text.logprobs.is_empty()) else { return };
    let lists = text.logprobs.iter().map(AsRef::as_ref);
    if let Some(spelled) = misspelled(lists, &text.joined) {
        let name = case.name(choice);
        let (expected, actual) = (format!("{:?}", text.joined), format!("{spelled:?}"));
        let (expected, actual) = (short(&expected), short(&actual));
        case.fault_of_event(&expected, &actual, || format!("the tokens of {name} do not join to its text"));
    }
}
