//! Rules of the group `message-usage`.

use catalogue::Level;
use spec::{Slot, json};

use super::is_call_by_code;
use crate::engine::{Case, Node, Object, Snapshot, Usage};

/// The counts of input tokens; the sum is the whole input.
const INPUT: [&str; 3] = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

pub(in crate::rules) fn output_grows(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    // Tokens of a text that a refusal withdraws are not counted.
    if message.reason() != Some("refusal") {
        falls(case, "output_tokens", case.stream.first_usage.output, case.usage(Slot::Usage).output);
    }
}

pub(in crate::rules) fn input_kept(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let (before, after) = (case.stream.first_usage.input, case.usage(Slot::Usage).input);
    if after >= before {
        return;
    }
    let Some(usage) = case.record().and_then(|record| record.view.raw(Slot::Usage)) else { return };
    // After a compaction, the usage repeats the counts of one sampling.
    let counts: Option<Vec<f64>> = match Object::new(usage).value("iterations") {
        Some(list) => json::entries(list).unwrap_or_default().into_iter().map(sampled).collect(),
        None => Some(Vec::new()),
    };
    let is_one = |counts: Vec<f64>| counts.into_iter().any(|count| Some(count) == after);
    if !counts.is_none_or(is_one) {
        falls(case, "input_tokens", before, after);
    }
}

fn sampled(sampling: &str) -> Option<f64> {
    Object::new(sampling).number("input_tokens")
}

fn falls(case: &mut Case<'_>, name: &str, before: Option<f64>, after: Option<f64>) {
    let (Some(before), Some(after)) = (before, after) else { return };
    if after < before {
        case.fault(&format!("/usage/{name}"), &format!("{before} or more"), &after.to_string(), || {
            format!("{name} falls from {before} to {after}")
        });
    }
}

pub(in crate::rules) fn parts_within(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    within(case, "/message/usage", &snapshot.usage);
}

pub(in crate::rules) fn parts_within_at_end(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    within(case, "/usage", &case.usage(Slot::Usage));
}

fn within(case: &mut Case<'_>, pointer: &str, usage: &Usage) {
    let Usage { input, cached, written, output, .. } = *usage;
    let all = [(INPUT[0], input), (INPUT[1], cached), (INPUT[2], written), ("output_tokens", output)];
    let negative =
        all.into_iter().find_map(|(name, count)| Some((name, count.filter(|count| *count < 0.0)?)));
    if let Some((name, count)) = negative {
        case.fault(&format!("{pointer}/{name}"), "0 or more", &count.to_string(), || {
            format!("{name} is {count}")
        });
    }
    if let Some((part, whole)) = usage.reasoning.zip(output).filter(|(part, whole)| part > whole) {
        let pointer = format!("{pointer}/output_tokens_details/thinking_tokens");
        case.fault(&pointer, &format!("at most {whole}"), &part.to_string(), || {
            format!("thinking_tokens is {part}, but output_tokens is {whole}")
        });
    }
    let parts = usage.written_parts;
    if let Some(whole) = written.filter(|whole| parts > *whole) {
        case.limit(Level::Should);
        let pointer = format!("{pointer}/cache_creation_input_tokens");
        case.fault(&pointer, &format!("at least {parts}"), &whole.to_string(), || {
            format!("cache_creation_input_tokens is {whole}, but its parts in cache_creation sum to {parts}")
        });
    }
}

pub(in crate::rules) fn counts_input(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Usage { input, cached, written, .. } = snapshot.usage;
    let is_counted = [input, cached, written].iter().flatten().any(|count| *count > 0.0);
    if input.is_some() && !is_counted && !is_call_by_code(snapshot.response) {
        case.fault("/message/usage/input_tokens", "more than 0, or cached tokens", "0", || {
            "the message starts with a usage of 0 input tokens".to_owned()
        });
    }
}
