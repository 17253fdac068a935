//! Rules of the group `message-usage`.

use spec::json;

use super::is_call_by_code;
use crate::engine::{Case, Node, Object, Snapshot};

/// The counts of input tokens; the sum is the whole input.
const INPUT: [&str; 3] = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

/// Returns the usage at the start of the message, and that in the event at hand.
fn both<'c>(case: &Case<'c>) -> Option<(Object<'c>, Object<'c>)> {
    let start = case.stream.first_snapshot.get()?.value("usage")?;
    let now = json::at(case.record()?.data(), "/usage")?;
    Some((Object::new(start), Object::new(now)))
}

pub(in crate::rules) fn output_grows(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let Some((start, now)) = both(case) else { return };
    falls(case, "output_tokens", &start, &now);
}

pub(in crate::rules) fn input_kept(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let Some((start, now)) = both(case) else { return };
    // After a compaction, the counts are those of the last of several samplings.
    if now.value("iterations").is_none() {
        falls(case, "input_tokens", &start, &now);
    }
}

fn falls(case: &mut Case<'_>, name: &str, start: &Object<'_>, now: &Object<'_>) {
    let (Some(before), Some(after)) = (start.number(name), now.number(name)) else { return };
    if after < before {
        case.fault(&format!("/usage/{name}"), &format!("{before} or more"), &after.to_string(), || {
            format!("{name} falls from {before} to {after}")
        });
    }
}

pub(in crate::rules) fn counts_input(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if is_call_by_code(snapshot.response) {
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
