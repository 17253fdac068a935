//! Rules of the group `stop`.

use super::{CUT_OFF, blocks};
use crate::engine::{Case, Node, Object, Snapshot, short};
use crate::rules::schema::is_respelled;

const REASONS: [&str; 8] = [
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
];

/// Stop reasons of Chat Completions, Responses and Gemini, and an empty one.
const OF_OTHERS: [&str; 16] = [
    "",
    "cancelled",
    "completed",
    "content_filter",
    "failed",
    "finish_reason_unspecified",
    "function_call",
    "incomplete",
    "length",
    "malformed_function_call",
    "max_output_tokens",
    "recitation",
    "safety",
    "stop",
    "tool_call",
    "tool_calls",
];

/// The reason belongs to another API, or is one of this API in other letters.
fn is_mistaken(reason: &str) -> bool {
    let is_one = |known: &&str| is_respelled(known, reason);
    !REASONS.contains(&reason)
        && (OF_OTHERS.iter().any(|other| is_respelled(other, reason)) || REASONS.iter().any(is_one))
}

fn known(case: &mut Case<'_>, pointer: &str, reason: &str) {
    if is_mistaken(reason) {
        case.fault(pointer, &format!("one of {}", REASONS.join(", ")), &format!("{reason:?}"), || {
            format!("the stop reason {reason:?} is not a word of the Messages API")
        });
    }
}

pub(in crate::rules) fn reason_known(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    if let Some(reason) = message.reason() {
        known(case, "/delta/stop_reason", reason);
    }
}

pub(in crate::rules) fn reason_of_body_known(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if let Some(reason) = snapshot.response.string("stop_reason") {
        known(case, "/message/stop_reason", &reason);
    }
}

pub(in crate::rules) fn reason_set(case: &mut Case<'_>) {
    let stream = case.stream;
    if !stream.has_ended() || stream.error.is_set() || stream.has_gap {
        return;
    }
    let start = stream.first_snapshot.get();
    let last = stream.response().and_then(|message| message.closing.get()).or(start);
    if last.is_some_and(|last| last.value("stop_reason").is_none()) {
        case.fault_of_event("a stop reason", "null", || {
            "the message has ended without a stop reason".to_owned()
        });
    }
}

pub(in crate::rules) fn tool_use_has_call(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let is_known = !case.stream.has_gap;
    if message.reason() == Some("tool_use") && is_known && blocks(case.stream, &["tool_use"]).next().is_none()
    {
        case.fault("/delta/stop_reason", "a tool_use block before it", "\"tool_use\"", || {
            "the message stops for a tool use, but has no tool_use block".to_owned()
        });
    }
}

pub(in crate::rules) fn call_means_tool_use(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let Some(reason) = message.reason() else { return };
    let other = ["tool_use", "pause_turn", "stop_sequence", "compaction"];
    if is_mistaken(reason) || CUT_OFF.iter().chain(&other).any(|known| *known == reason) {
        return;
    }
    if let Some(call) = blocks(case.stream, &["tool_use"]).next() {
        let name = case.name(call);
        case.fault("/delta/stop_reason", "\"tool_use\"", &format!("{reason:?}"), || {
            format!("the message stops with {reason:?}, although {name} is a tool_use")
        });
    }
}

pub(in crate::rules) fn sequence_agrees(case: &mut Case<'_>, message: &Node, delta: &Object<'_>) {
    let Some(reason) = message.reason() else { return };
    let sequence = delta.value("stop_sequence");
    if (reason == "stop_sequence") != sequence.is_some() {
        let expected = if sequence.is_some() { "null" } else { "a string" };
        let actual = sequence.map_or("null".into(), short);
        case.fault("/delta/stop_sequence", expected, &actual, || {
            format!("stop_sequence is {actual}, but the stop reason is {reason:?}")
        });
    }
}

pub(in crate::rules) fn refusal_explained(case: &mut Case<'_>, message: &Node, delta: &Object<'_>) {
    if message.reason() == Some("refusal") && delta.value("stop_details").is_none() {
        case.fault("/delta/stop_details", "an object", "null, or none", || {
            "the model refuses, and stop_details does not say why".to_owned()
        });
    }
}
