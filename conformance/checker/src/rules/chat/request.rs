//! Rules of Chat Completions that need the request.

use spec::json;
use spec::table::{Marker, Scope};

use crate::engine::{Asked, Case, Chosen, Node, NodeState, Object, number, short};
use crate::rules::{request, shape};

/// `None` if some of the text is unknown.
fn text<'c>(case: &Case<'c>, choice: &'c Node) -> Option<&'c Node> {
    let stream = case.stream;
    stream.children(choice, Scope::Content).find(|text| !text.partial && !stream.has_gap)
}

fn has_refused(case: &Case<'_>, choice: &Node) -> bool {
    case.stream.children(choice, Scope::Refusal).any(|refusal| !refusal.joined.is_empty())
}

pub(in crate::rules) fn any_chosen(case: &mut Case<'_>, choice: &Node, finish: &Object<'_>) {
    if !has_refused(case, choice) {
        request::any_chosen(case, choice, finish);
    }
}

pub(in crate::rules) fn one_chosen(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    if !has_refused(case, choice) {
        request::one_chosen(case, choice);
    }
}

pub(in crate::rules) fn calls_mean_tool_calls(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    // A choice with the call that was demanded just stops.
    let is_free = case.head.asked.as_ref().is_some_and(|asked| asked.chosen() == Chosen::Free);
    let stream = case.stream;
    if !is_free || choice.reason() != Some("stop") {
        return;
    }
    if let Some(call) = stream.children(choice, Scope::ToolCall).next() {
        let (name, call) = (case.name(choice), case.name(call));
        case.fault_of_event("\"tool_calls\"", "\"stop\"", || {
            format!("{name} finishes with stop, although it has {call}")
        });
    }
}

fn choices(asked: &Asked) -> f64 {
    asked.value("n").and_then(number).unwrap_or(1.0)
}

/// An error ends no completion.
fn is_over(case: &Case<'_>) -> bool {
    let ends_unmarked = case.dialect().framing.done != Marker::Required;
    (case.stream.has_ended() || ends_unmarked) && !case.stream.error.is_set()
}

pub(in crate::rules) fn choices_asked(case: &mut Case<'_>) {
    let Some(asked) = request::of_whole(case).filter(|_| is_over(case)) else { return };
    let is_open = |choice: &Node| choice.state() != NodeState::Closed;
    let (expected, found) = (choices(asked), case.stream.items().count());
    let is_as_asked = u32::try_from(found).is_ok_and(|found| (f64::from(found) - expected).abs() < 0.5);
    if !is_as_asked && !case.stream.items().any(is_open) {
        let (expected, actual) = (format!("{expected} choices"), found.to_string());
        case.fault_of_event(&expected, &actual, || {
            format!("the request asks for {expected}, but there are {found}")
        });
    }
}

/// `None` if that is unknown.
fn asks_for_usage(asked: &Asked) -> bool {
    asked.is_on("/stream_options/include_usage")
}

pub(in crate::rules) fn usage_asked(case: &mut Case<'_>) {
    let is_asked = is_over(case) && request::of_whole(case).is_some_and(asks_for_usage);
    let stream = case.stream;
    let has_usage =
        stream.response().is_some_and(|root| stream.children(root, Scope::Usage).next().is_some());
    if is_asked && !has_usage {
        case.fault_of_event("a chunk with usage", "none", || {
            "the request includes the usage, but no chunk has it".to_owned()
        });
    }
}

pub(in crate::rules) fn usage_not_unasked(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    if case.head.asked.as_ref().is_some_and(|asked| !asks_for_usage(asked)) {
        case.fault("/usage", "null, or no such member", "an object", || {
            "a chunk has the usage, which the request does not include".to_owned()
        });
    }
}

pub(in crate::rules) fn within_limit(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    let answers = case.head.asked.as_ref().map_or(1.0, choices);
    request::within_limit(case, "/usage/completion_tokens", usage.number("completion_tokens"), answers);
}

pub(in crate::rules) fn limit_reached(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    let mut finishes = case.stream.items().map(Node::reason);
    // The tokens of several choices are counted together.
    if let (Some(Some(reason)), None) = (finishes.next(), finishes.next()) {
        request::limit_reached(case, usage.number("completion_tokens"), reason, "length");
    }
}

pub(in crate::rules) fn logprobs_asked(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let is_asked = case.head.asked.as_ref().is_some_and(|asked| asked.is_on("/logprobs"));
    let lacks = |text: &Node| !text.joined.is_empty() && text.logprobs.is_empty();
    if is_asked && text(case, choice).is_some_and(lacks) {
        let name = case.name(choice);
        case.fault_of_event("logprobs beside each delta", "none", || {
            format!("the request asks for logprobs, but {name} has none")
        });
    }
}

pub(in crate::rules) fn logprobs_not_unasked(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let is_unasked = case.head.asked.as_ref().is_some_and(|asked| !asked.is_on("/logprobs"));
    if is_unasked && text(case, choice).is_some_and(|text| !text.logprobs.is_empty()) {
        let name = case.name(choice);
        case.expected("no logprobs", || format!("{name} has logprobs, which the request does not ask for"));
    }
}

pub(in crate::rules) fn format_kept(case: &mut Case<'_>, choice: &Node, _: &Object<'_>) {
    let Some(asked) = request::of_whole(case) else { return };
    let is_object = match asked.at("/response_format/type") {
        Some("\"json_object\"") => true,
        Some("\"json_schema\"") => false,
        _ => return,
    };
    let has_calls = case.stream.children(choice, Scope::ToolCall).next().is_some();
    if choice.reason() != Some("stop") || has_refused(case, choice) || has_calls {
        return;
    }
    let Some(text) = text(case, choice).map(|text| text.joined.clone()) else { return };
    request::json(case, &text, is_object);
    let format = asked.at("/response_format/json_schema").map(Object::new);
    let schema =
        format.as_ref().filter(|it| it.value("strict") == Some("true")).and_then(|it| it.value("schema"));
    if let Some(misfit) = schema.and_then(|schema| shape::misfit(schema, &text)) {
        case.fault_of_event("JSON that fits the strict schema of response_format", &short(&text), || {
            format!("the text does not fit response_format: {misfit}")
        });
    }
}

pub(in crate::rules) fn audio_asked(case: &mut Case<'_>, choice: &Node, finish: &Object<'_>) {
    // The last chunk of spoken output says when it expires.
    let is_spoken = number(finish.text()).is_some();
    let asks = |asked: &Asked| {
        asked.value("modalities").and_then(json::entries).is_some_and(|of| of.contains(&"\"audio\""))
    };
    let is_unasked = case.head.asked.as_ref().is_some_and(|asked| !asks(asked));
    if is_spoken && is_unasked {
        let name = case.name(choice);
        case.fault_of_event("text", "audio", || {
            format!("{name} is spoken, but the request does not ask for audio")
        });
    }
}

pub(in crate::rules) fn model(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let model =
        case.record().and_then(|record| record.member("model")).and_then(json::string).unwrap_or_default();
    request::model(case, "/model", &model);
}
