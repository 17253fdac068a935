//! Members of requests that have no counterpart in questions.

use serde_json::Value;

/// Members without meaning for the reply: caches, storage, billing, routing, marks for the one who asks.
const SILENT: &[&str] = &[
    "anthropic_beta",
    "anthropic_version",
    "betas",
    "cache_control",
    "client_metadata",
    "diagnostics",
    "inference_geo",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "service_tier",
    "speed",
    "store",
    "stream_options",
    "user_profile_id",
    "workspace_id",
];

/// Values of members that ask for what the API does by default.
const DEFAULTS: &[(&str, &str)] = &[
    ("background", "false"),
    ("frequency_penalty", "0"),
    ("logprobs", "false"),
    ("modalities", r#"["text"]"#),
    ("presence_penalty", "0"),
    ("top_logprobs", "0"),
    ("truncation", r#""disabled""#),
    ("verbosity", r#""medium""#),
];

/// Members of tools, messages and parts without meaning for the reply.
const SILENT_INSIDE: &[&str] = &[
    "agent",
    "annotations",
    "cache_control",
    "caller",
    "citations",
    "eager_input_streaming",
    "id",
    "index",
    "logprobs",
    "prompt_cache_breakpoint",
    "status",
    "type",
];

/// The member has no meaning for the reply, or its value is the default.
pub(super) fn is_silent(name: &str, value: &Value) -> bool {
    is_empty(value)
        || SILENT.contains(&name)
        || DEFAULTS.iter().any(|(of, default)| *of == name && is_same(value, default))
}

/// The same for a member of a tool, a message or a part.
pub(super) fn is_silent_inside(name: &str, value: &Value) -> bool {
    is_empty(value) || *value == Value::Bool(false) || SILENT_INSIDE.contains(&name)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Numbers may be written in any form.
fn is_same(value: &Value, text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|default| match value.as_f64() {
        Some(number) => default.as_f64() == Some(number),
        None => *value == default,
    })
}

/// `web_search_20250305` is `web_search`.
pub(super) fn undated(kind: &str) -> &str {
    let dated = kind.rsplit_once('_').filter(|(_, date)| date.len() == 8);
    match dated {
        Some((name, date)) if date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => kind,
    }
}

pub(super) fn content_name(kind: &str) -> &str {
    match kind {
        "document" | "input_file" => "file",
        "input_audio" => "audio",
        _ => undated(kind),
    }
}
