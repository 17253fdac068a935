//! Rules of the group `message-usage`.

use super::is_call_by_code;
use crate::engine::{Case, Node, Object, Snapshot};

/// The counts of input tokens; the sum is the whole input.
const INPUT: [&str; 3] = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

pub(in crate::rules) fn output_grows(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    falls(case, "output_tokens", case.stream.first_usage.output, case.usage().output);
}

pub(in crate::rules) fn input_kept(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let (before, after) = (case.stream.first_usage.input, case.usage().input);
    // After a compaction, the counts are those of the last of several samplings.
    let usage = || case.record().and_then(|record| record.member("usage")).map(Object::new);
    if after < before && usage().is_some_and(|usage| usage.value("iterations").is_none()) {
        falls(case, "input_tokens", before, after);
    }
}

fn falls(case: &mut Case<'_>, name: &str, before: Option<f64>, after: Option<f64>) {
    let (Some(before), Some(after)) = (before, after) else { return };
    if after < before {
        case.fault(&format!("/usage/{name}"), &format!("{before} or more"), &after.to_string(), || {
            format!("{name} falls from {before} to {after}")
        });
    }
}

pub(in crate::rules) fn counts_input(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if snapshot.usage.input.is_some_and(|count| count > 0.0) || is_call_by_code(snapshot.response) {
        return;
    }
    let Some(usage) = snapshot.response.value("usage").map(Object::new) else { return };
    let is_counted = INPUT.iter().any(|name| usage.number(name).is_some_and(|count| count > 0.0));
    if usage.number("input_tokens").is_some() && !is_counted {
        case.fault("/message/usage/input_tokens", "more than 0, or cached tokens", "0", || {
            "the message starts with a usage of 0 input tokens".to_owned()
        });
    }
}
