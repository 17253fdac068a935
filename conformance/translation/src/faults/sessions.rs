//! Faults of requests that show over the turns of a session.

use serde_json::{Map, Value, json};

type Members = Map<String, Value>;
/// A change of a request as it is written. The number of the request tells turns apart.
type Change = fn(&mut Members, u64);

const MARK: &str = "cache_control";
/// The members that have a conversation.
const CONVERSATIONS: [&str; 3] = ["messages", "input", "contents"];
/// The types of results of tools, and the role of one.
const RESULTS: [&str; 3] = ["tool_result", "function_call_output", "tool"];

/// The rules, and how each is broken.
const SESSIONS: &[(&str, Change)] = &[
    ("cache/key-stable", |request, number| {
        if request.contains_key("prompt_cache_key") {
            request.insert("prompt_cache_key".to_owned(), json!(format!("key-{number}")));
        }
    }),
    ("cache/marks-kept", |request, _| {
        for message in list(request, "messages") {
            each(message, &mut |members| drop(members.remove(MARK)));
        }
    }),
    ("cache/marks-limit", |request, _| {
        for tool in list(request, "tools").filter_map(Value::as_object_mut) {
            tool.insert(MARK.to_owned(), json!({"type": "ephemeral"}));
        }
    }),
    ("cache/params-stable", |request, number| {
        if number % 2 == 1 {
            request.insert("temperature".to_owned(), json!(0.5));
        }
    }),
    ("cache/prefix-stable", |request, number| {
        for tool in list(request, "tools") {
            each(tool, &mut |members| {
                if members.contains_key("name") && members.contains_key("description") {
                    members.insert("description".to_owned(), json!(format!("Call {number}.")));
                }
            });
        }
    }),
    ("contract/attribution-alone", |request, _| {
        if let Some(Value::Array(blocks)) = request.get_mut("system")
            && blocks.len() > 1
        {
            let first = blocks.remove(0);
            let text =
                |block: &Value| block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            blocks[0]["text"] = json!([text(&first), text(&blocks[0])].join("\n\n"));
        }
    }),
    ("contract/open-list", |request, _| drop(request.remove("metadata"))),
    ("contract/pairs", |request, _| drop(request.remove("context_management"))),
    ("contract/system-kept", |request, _| {
        if let Some(Value::Array(blocks)) = request.get_mut("system") {
            blocks.reverse();
            blocks.rotate_right(1);
        }
    }),
    ("session/compaction", |request, _| {
        retain(request, &mut |item| kind(item) != "compaction_trigger");
    }),
    ("session/phase-kept", |request, _| {
        for item in list(request, "input") {
            each(item, &mut |members| drop(members.remove("phase")));
        }
    }),
    ("session/results-order", |request, _| {
        for name in CONVERSATIONS {
            let Some(entries) = request.get_mut(name).and_then(Value::as_array_mut) else { continue };
            swap(entries);
            for name in ["content", "parts"] {
                let all = entries.iter_mut().filter_map(|entry| entry.get_mut(name)?.as_array_mut());
                all.for_each(|it| swap(it));
            }
        }
    }),
    ("session/sealed-kept", |request, _| {
        for name in CONVERSATIONS {
            for entry in list(request, name) {
                each(entry, &mut |members| drop(members.remove("thoughtSignature")));
                if let Some(blocks) = entry.get_mut("content").and_then(Value::as_array_mut) {
                    blocks.retain(|block| kind(block) != "thinking");
                }
            }
        }
        retain(request, &mut |item| kind(item) != "reasoning");
    }),
    ("session/system-inside", |request, _| {
        let mut is_inside = false;
        retain(request, &mut |item| {
            let is_system = matches!(item.get("role").and_then(Value::as_str), Some("system" | "developer"));
            is_inside |= !is_system;
            !(is_system && is_inside)
        });
    }),
    ("session/tools-kept", |request, _| {
        if let Some(tools) = request.get_mut("tools").and_then(Value::as_array_mut) {
            tools.pop();
        }
    }),
];

/// Whether the fault shows over the turns of a session; if so, the request is changed.
pub fn break_turn(rule: &str, request: &mut Value, number: u64) -> bool {
    let Some((_, change)) = SESSIONS.iter().find(|(known, _)| *known == rule) else { return false };
    if let Some(request) = request.as_object_mut() {
        change(request, number);
    }
    true
}

/// Without what a request has beside its texts: a form that an upstream may accept that refused it.
pub fn lessen(request: &mut Value) {
    if let Some(request) = request.as_object_mut() {
        for name in ["thinking", "reasoning", "reasoning_effort", "output_config", "tools"] {
            request.remove(name);
        }
    }
}

fn list<'r>(request: &'r mut Members, name: &str) -> impl Iterator<Item = &'r mut Value> {
    request.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

fn each(value: &mut Value, change: &mut impl FnMut(&mut Members)) {
    match value {
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|member| each(member, change));
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| each(entry, change)),
        _ => {}
    }
}

fn retain(request: &mut Members, is_kept: &mut impl FnMut(&Value) -> bool) {
    for name in CONVERSATIONS {
        if let Some(entries) = request.get_mut(name).and_then(Value::as_array_mut) {
            entries.retain(&mut *is_kept);
        }
    }
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// The first two neighbours that are results change places.
fn swap(entries: &mut [Value]) {
    let is_result = |entry: &Value| {
        RESULTS.contains(&kind(entry))
            || entry.get("functionResponse").is_some()
            || entry.get("role").and_then(Value::as_str).is_some_and(|role| role == "tool")
    };
    let first = entries.windows(2).position(|pair| pair.iter().all(is_result));
    if let Some(first) = first {
        entries.swap(first, first + 1);
    }
}
