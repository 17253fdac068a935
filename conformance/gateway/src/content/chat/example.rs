//! Requests whose completions have the shape of a golden.

use serde_json::{Value, json};

/// The input that requests a completion like each golden.
pub(in crate::content) static EXAMPLES: &[(&str, &str)] = &[
    ("chat/text", "[[say The sky |is blue |today.]]"),
    ("chat/content-filter", "[[say The recipe ]][[incomplete content_filter]]"),
    ("chat/error", "[[say The sky |is blue]][[fail after 1]]"),
    ("chat/forced-tool-call", "[[call get_weather {\"city\":|\"Oslo\"}]]"),
    ("chat/length", "[[say Once upon |a time there]][[incomplete]]"),
    ("chat/logprobs", "[[say The| ocean|.]]"),
    (
        "chat/parallel-tool-calls",
        "[[call get_weather {\"city\":|\"Oslo\"}]][[call get_weather {\"city\":|\"Rome\"}]]",
    ),
    ("chat/refusal", "[[refuse I'm sorry, |I can't help with that.]]"),
    ("chat/text-and-tool-call", "[[say I look that up.]][[call get_weather {\"city\":\"Oslo\"}]]"),
    ("chat/tool-call", "[[call get_weather {\"ci|ty\":\"Os|lo\"}]]"),
    ("chat/two-choices", "[[say Tails| it is.]]"),
    ("chat/usage", "[[say Good |morning!]][[usage 11 3]]"),
];

/// Returns a streaming request with this input, for a completion like a golden.
pub(in crate::content) fn request(golden: &str, input: &str) -> Value {
    let shape = golden.split_once('/').map_or(golden, |(_, shape)| shape);
    // Violations name the model of the goldens.
    let mut request = json!({"model": "gpt-5.4",
        "messages": [{"role": "user", "content": input}], "stream": true});
    if shape.contains("tool-call") {
        request["tools"] = json!([{"type": "function", "function": {"name": "get_weather",
            "description": "Current weather of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]);
    }
    match shape {
        "forced-tool-call" => {
            request["tool_choice"] = json!({"type": "function", "function": {"name": "get_weather"}});
        }
        "logprobs" => request["logprobs"] = json!(true),
        "two-choices" => {
            request["n"] = json!(2);
            request["stream_options"] = json!({"include_usage": true});
        }
        "usage" => request["stream_options"] = json!({"include_usage": true}),
        _ => {}
    }
    request
}
