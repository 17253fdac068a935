//! Rules of the group `usage`.

use spec::json::{self, values};
use spec::table::Scope;

use super::choice::is_written;
use crate::engine::{Case, Node, NodeState, Object, Usage, number};
use crate::rules::counts;

pub(in crate::rules) fn adds_up(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    let count = |name| usage.number(name);
    let (Some(input), Some(output), Some(total)) =
        (count("prompt_tokens"), count("completion_tokens"), count("total_tokens"))
    else {
        return;
    };
    if (input + output - total).abs() > 0.5 {
        let expected = format!("{input} + {output} = {}", input + output);
        case.fault("/usage/total_tokens", &expected, &total.to_string(), || {
            format!("total_tokens is {total}, but prompt and completion tokens are {}", input + output)
        });
    }
}

pub(in crate::rules) fn after_finish(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let stream = case.stream;
    // A choice with spoken output never finishes, and has no text.
    let has_text = |choice: &Node| {
        let texts = [Scope::Content, Scope::Refusal, Scope::ToolCall];
        texts.iter().any(|scope| stream.children(choice, *scope).next().is_some())
    };
    let is_open = |choice: &&Node| choice.state() != NodeState::Closed && has_text(choice);
    let message = match stream.items().find(is_open) {
        Some(open) => format!("the usage was sent before {} finished", case.name(open)),
        None if stream.items().next().is_none() => "the usage was sent before the first choice".to_owned(),
        None => return,
    };
    case.fault("/usage", "null until all choices have finished", "an object", || message.clone());
}

pub(in crate::rules) fn counts_output(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    let stream = case.stream;
    if usage.number("completion_tokens") != Some(0.0) {
        return;
    }
    if let Some(choice) = stream.items().find(|choice| is_written(stream, choice)) {
        let name = case.name(choice);
        case.fault("/usage/completion_tokens", "more than 0", "0", || {
            format!("the usage has no completion tokens, although {name} has content")
        });
    }
}

pub(in crate::rules) fn alone(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let choices = case.record().and_then(|record| json::entries(record.member("choices")?));
    if let Some(choices) = choices.filter(|choices| !choices.is_empty()) {
        case.fault("/choices", "[]", &format!("{} choices", choices.len()), || {
            "the chunk with the usage has choices".to_owned()
        });
    }
}

/// The parts of counts that the usage of other APIs does not have.
const PARTS: [&str; 3] = ["audio_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"];

pub(in crate::rules) fn details_within(case: &mut Case<'_>, _: &Node, value: &Object<'_>) {
    let usage = Usage::of(&case.dialect().api.usage, value.text());
    counts::details_within(case, &usage, |count| format!("/usage/{count}"));
    for (whole, details, all) in [
        ("prompt_tokens", "prompt_tokens_details", usage.input),
        ("completion_tokens", "completion_tokens_details", usage.output),
    ] {
        let (Some(all), Some(object)) = (all, value.value(details)) else { continue };
        for (part, count) in PARTS.iter().zip(values(object, PARTS)) {
            let Some(count) = number(count).filter(|count| *count > all) else { continue };
            counts::exceeds(case, &format!("/usage/{details}/{part}"), (part, count), (whole, all));
        }
    }
}

pub(in crate::rules) fn counts_prompt(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    if usage.number("prompt_tokens") == Some(0.0) {
        case.fault("/usage/prompt_tokens", "more than 0", "0", || {
            "the usage has no prompt tokens, although each request has messages".to_owned()
        });
    }
}
