//! Rules of the group `response`.

use catalogue::Level;
use spec::json;
use spec::table::{EventInfo, Role, Scope};

use crate::engine::Change;
use crate::engine::{Case, Snapshot};
use crate::engine::{Object, number, same, short};

/// Echoed settings, which never change. The service tier does: from the requested to the actual one.
const ECHOED: [&str; 26] = [
    "object",
    "model",
    "instructions",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "max_output_tokens",
    "max_tool_calls",
    "parallel_tool_calls",
    "previous_response_id",
    "conversation",
    "reasoning",
    "text",
    "truncation",
    "metadata",
    "store",
    "background",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "top_logprobs",
    "frequency_penalty",
    "presence_penalty",
    "prompt",
];

/// Fields with their own rules.
const OTHERWISE_JUDGED: [&str; 8] =
    ["id", "created_at", "status", "output", "usage", "completed_at", "error", "incomplete_details"];

pub(in crate::rules) fn in_progress_second(case: &mut Case<'_>) {
    let stream = case.stream;
    let Some(record) = case.record() else { return };
    let Some(info) = case.info().filter(|info| info.role != Role::Point) else { return };
    // `response/created-once` reports a second creation.
    if info.is_opening() || info.phase == Some("failed") || stream.has_gap || record.event_type.is_none() {
        return;
    }
    let nth = |at: usize| stream.first_types.get(at).and_then(|name| case.dialect().event(name));
    let place_is_wrong = match stream.first_types.len() {
        1 => !matches!(info.phase, Some("in_progress" | "queued")),
        2 => nth(1).is_some_and(|second| second.phase == Some("queued")) && info.role != Role::Phase,
        _ => false,
    };
    if !place_is_wrong || !nth(0).is_some_and(EventInfo::is_opening) {
        return;
    }
    let in_progress =
        |event: &&EventInfo| event.scope == Scope::Response && event.phase == Some("in_progress");
    let Some(expected) = case.dialect().effects().find(in_progress) else { return };
    case.fault_of_event(expected.name, info.name, || {
        format!("{} was sent instead of {}", info.name, expected.name)
    });
}

pub(in crate::rules) fn status_agrees(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(expected) = snapshot.phase() else { return };
    let Some(status) = snapshot.status.as_ref().filter(|status| **status != expected) else { return };
    case.fault("/response/status", &format!("\"{expected}\""), &format!("\"{status}\""), || {
        format!("{} has a response with status \"{status}\"", snapshot.source())
    });
}

pub(in crate::rules) fn echo_constant(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    for change in &snapshot.changes {
        // Other rules judge most changes, and their list is shorter.
        if !OTHERWISE_JUDGED.contains(&change.name) && ECHOED.contains(&change.name) {
            unchanged(case, change);
        }
    }
}

pub(in crate::rules) fn in_progress_unchanged(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if snapshot.phase() != Some("in_progress") {
        return;
    }
    for change in &snapshot.changes {
        let name = &*json::decode(change.name).0;
        if !OTHERWISE_JUDGED.contains(&name) && !ECHOED.contains(&name) {
            unchanged(case, change);
        }
    }
}

/// The spelling of a member may differ, and it may be absent.
fn unchanged(case: &mut Case<'_>, change: &Change<'_>) {
    let Change { name, before, now: Some(now) } = *change else { return };
    if !same(before, now) {
        case.fault(&format!("/response/{name}"), &short(before), &short(now), || {
            format!("{name} of the response is {}, but was {} before", short(now), short(before))
        });
    }
}

pub(in crate::rules) fn keys_kept(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if !snapshot.is_terminal() {
        return;
    }
    for Change { name, now, .. } in &snapshot.changes {
        if now.is_none() && !has_unescaped(snapshot.response, name) {
            case.lacks("/response", name, || {
                format!("the response was created with {name}, but ends without it")
            });
        }
    }
}

/// Either name may be written with escapes.
fn has_unescaped(object: &Object<'_>, name: &str) -> bool {
    let name = json::decode(name).0;
    object.members().any(|(other, _)| json::decode(other).0 == name)
}

pub(in crate::rules) fn output_starts_empty(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if snapshot.is_terminal() {
        return;
    }
    let entries = snapshot.response.entries("output").unwrap_or_default().len();
    if entries > 0 {
        case.fault("/response/output", "[]", &format!("{entries} entries"), || {
            format!("output has {entries} entries before the response ends")
        });
    }
}

pub(in crate::rules) fn usage_only_at_end(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(usage) = snapshot.response.value("usage").filter(|_| !snapshot.is_terminal()) else { return };
    case.fault("/response/usage", "null", &short(usage), || {
        "the response has usage before it ends".to_owned()
    });
}

pub(in crate::rules) fn usage_present(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let ends_with_usage = matches!(snapshot.phase(), Some("completed" | "incomplete"));
    if !ends_with_usage || snapshot.response.value("usage").is_some() {
        return;
    }
    let message = || "the response ends without usage".to_owned();
    match snapshot.response.get("usage") {
        Some(_) => case.fault(&snapshot.pointer("usage"), "an object", "none", message),
        None => case.lacks(&snapshot.pointer(""), "usage", message),
    }
}

pub(in crate::rules) fn usage_adds_up(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let usage = &snapshot.usage;
    let (Some(input), Some(output), Some(total)) = (usage.input, usage.output, usage.total) else {
        return;
    };
    let sum = input + output;
    if (sum - total).abs() > 0.5 {
        case.fault(&snapshot.pointer("usage/total_tokens"), &sum.to_string(), &total.to_string(), || {
            format!(
                "input_tokens and output_tokens are {input} + {output} = {sum}, but total_tokens is {total}"
            )
        });
    }
}

const SECONDS: std::ops::Range<f64> = 1e9..4e9;

/// Seconds of later centuries: a wrong clock, but no other unit.
const LATER: std::ops::Range<f64> = 4e9..1e11;

fn is_without_times(snapshot: &Snapshot<'_>) -> bool {
    let times = ["created_at", "completed_at"].map(|name| snapshot.response.number(name));
    times.into_iter().flatten().all(|time| time == 0.0)
}

pub(in crate::rules) fn times_in_seconds(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    for name in ["created_at", "completed_at"] {
        let Some(time) = snapshot.response.number(name).filter(|time| !SECONDS.contains(time)) else {
            continue;
        };
        let is_redacted = time == 0.0 && is_without_times(snapshot);
        let whole = case.bound.level;
        if is_redacted || LATER.contains(&time) {
            case.limit(Level::May);
        }
        case.fault(
            &snapshot.pointer(name),
            "a Unix time in seconds, such as 1785000000",
            &time.to_string(),
            || {
                if is_redacted {
                    format!("{name} is 0, like every time of the response: the recording may be redacted")
                } else {
                    let hint =
                        if SECONDS.contains(&(time / 1000.0)) { " (it is in milliseconds)" } else { "" };
                    format!("{name} is {time}, not a Unix time in seconds{hint}")
                }
            },
        );
        case.bound.level = whole;
    }
}

pub(in crate::rules) fn completed_at_agrees(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(raw) = snapshot.response.get("completed_at") else { return };
    let pointer = || snapshot.pointer("completed_at");
    if !snapshot.is_completed() {
        if raw != "null" && snapshot.phase() != Some("cancelled") {
            case.fault(&pointer(), "null", &short(raw), || {
                format!("{} has completed_at, but the response is not completed", snapshot.source())
            });
        }
        return;
    }
    if raw == "null" {
        case.fault(&pointer(), "the time of completion", "null", || {
            "the response is completed, but completed_at is null".to_owned()
        });
    } else if let (Some(created), Some(completed)) = (snapshot.response.number("created_at"), number(raw))
        && completed < created
    {
        case.fault(&pointer(), &format!("at least {created}"), raw, || {
            format!("completed_at is {completed}, before created_at, which is {created}")
        });
    }
}

pub(in crate::rules) fn incomplete_details_agree(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if snapshot.status.as_deref() != Some("incomplete") {
        case.limit(Level::Should);
    }
    present_iff(case, snapshot, "incomplete_details", "incomplete");
}

pub(in crate::rules) fn error_agrees(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if !snapshot.is_completed() && !snapshot.has_failed() {
        case.limit(Level::Should);
    }
    present_iff(case, snapshot, "error", "failed");
}

pub(in crate::rules) fn named(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    for name in ["id", "model"] {
        if snapshot.response.get(name) == Some("\"\"") {
            case.fault(&snapshot.pointer(name), "a non-empty string", "\"\"", || {
                format!("the {name} of the response is empty")
            });
        }
        case.limit(Level::Should);
    }
}

/// The field has to be set with the status, and only with it.
fn present_iff(case: &mut Case<'_>, snapshot: &Snapshot<'_>, name: &str, status: &str) {
    let Some(found) = snapshot.status.as_deref() else { return };
    let value = snapshot.response.value(name);
    if value.is_some() == (found == status) {
        return;
    }
    let pointer = snapshot.pointer(name);
    if found == status && value.is_none() {
        let message = || format!("the response is {status}, but has no {name}");
        match snapshot.response.get(name) {
            Some(_) => case.fault(&pointer, "a value", "none", message),
            None => case.lacks(&snapshot.pointer(""), name, message),
        }
    } else if let Some(value) = value.filter(|_| found != status) {
        case.fault(&pointer, "null", &short(value), || {
            format!("the response has {name}, but its status is \"{found}\"")
        });
    }
}

pub(in crate::rules) fn metadata_is_object(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(raw) = snapshot.response.value("metadata").filter(|raw| !raw.starts_with('{')) else { return };
    case.fault(&snapshot.pointer("metadata"), "an object", &short(raw), || {
        "metadata is not an object".to_owned()
    });
}

/// The reasons that clients know.
const REASONS: [&str; 4] = ["max_output_tokens", "content_filter", "max_messages", "steered"];

pub(in crate::rules) fn incomplete_reason_known(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    if snapshot.phase() != Some("incomplete") {
        return;
    }
    let details = snapshot.response.value("incomplete_details");
    let Some(details) = details else { return };
    let Some(reason) = json::at(details, "/reason").filter(|reason| *reason != "null") else {
        case.lacks(&snapshot.pointer("incomplete_details"), "reason", || {
            "the response is incomplete, but incomplete_details has no reason".to_owned()
        });
        return;
    };
    let is_known = json::string(reason).is_some_and(|reason| REASONS.contains(&&*reason));
    if !is_known {
        let pointer = snapshot.pointer("incomplete_details/reason");
        case.fault(&pointer, &format!("one of {}", REASONS.join(", ")), &short(reason), || {
            format!("{pointer} is {}, not one of {}", short(reason), REASONS.join(", "))
        });
    }
}
