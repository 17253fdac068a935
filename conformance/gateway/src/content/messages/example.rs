//! Requests whose messages have the shape of a golden.

use serde_json::{Value, json};

/// The input that requests a message like each golden.
pub(in crate::content) static EXAMPLES: &[(&str, &str)] = &[
    ("anthropic/text", "[[say The sky |is blue |today.]][[usage 25 9]]"),
    ("anthropic/citations", "[[say The document says ]][[say that grass |is green]][[cite file]][[say .]]"),
    ("anthropic/early-ping", "[[keepalive]][[say The sky |is blue.]]"),
    ("anthropic/error", "[[say The sky |is blue]][[fail after 2]]"),
    ("anthropic/max-tokens", "[[say Once upon |a time there]][[incomplete]]"),
    ("anthropic/mcp-tool", "[[mcp {\"query\": \"hi\"}]][[say It says hi.]]"),
    (
        "anthropic/parallel-tool-use",
        "[[say I ask |for both.]][[call get_weather {\"city\": \"Os|lo\"}]][[call get_weather {\"city\"|: \"Rome\"}]]",
    ),
    ("anthropic/redacted-thinking", "[[encrypt]][[encrypt]][[say That is |all.]]"),
    ("anthropic/refusal", "[[refuse I can't |help with that.]]"),
    (
        "anthropic/server-tool",
        "[[say I search |for it.]][[web_search tides]][[say High tide is at noon.]][[cite url]]",
    ),
    ("anthropic/stop-sequence", "[[say one two |three| four]]"),
    ("anthropic/thinking", "[[think The user wants |the sum of 17 and 25, |which is 42.]][[say It is |42.]]"),
    ("anthropic/tool-use", "[[say I look |that up.]][[call get_weather {\"city\":| \"Oslo\"}]]"),
    (
        "anthropic/weather",
        "[[think Oslo is |a city.]][[say I look |that up.]][[call get_weather {\"city\":| \"Oslo\"}]]",
    ),
];

/// Returns a streaming request with this input, for a message like a golden.
pub(in crate::content) fn request(golden: &str, input: &str) -> Value {
    let shape = golden.split_once('/').map_or(golden, |(_, shape)| shape);
    let mut request = json!({"model": "reference-1", "max_tokens": 8192,
        "messages": [{"role": "user", "content": input}], "stream": true});
    if shape == "stop-sequence" {
        request["stop_sequences"] = json!([" four"]);
    }
    if shape.contains("tool-use") || shape == "weather" {
        request["tools"] = json!([{"name": "get_weather", "description": "Current weather of a city",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]);
    }
    if shape.contains("thinking") || shape == "weather" {
        request["thinking"] = json!({"type": "adaptive"});
    }
    if matches!(shape, "server-tool" | "pause-turn") {
        request["tools"] = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    }
    request
}
