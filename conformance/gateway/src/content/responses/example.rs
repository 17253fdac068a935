//! Requests whose responses have the shape of a golden, so that edits of the golden apply to them.

use serde_json::{Value, json};

/// The input that requests a response like each golden.
pub(in crate::content) static EXAMPLES: &[(&str, &str)] = &[
    ("openai/apply-patch", "[[patch]]"),
    ("openai/background", HELLO),
    ("openai/code-interpreter", "[[code print|(6 *| 7)]][[say It is| 42.]]"),
    ("openai/custom-tool", "[[custom run_query SELECT| 1;]]"),
    ("openai/failed", "[[fail]]"),
    ("openai/file-search", "[[file_search return policy]][[say Returns within| 30 days|.]][[cite file]]"),
    ("openai/function-call", CALL),
    ("openai/image-generation", "[[image 1]][[say ]]"),
    ("openai/incomplete", CUT),
    ("openai/keepalive", "[[keepalive]][[say Hello|, wor|ld.]]"),
    ("openai/mcp-call", "[[mcp_tools]][[mcp]][[say One note| found.]]"),
    ("openai/mcp-call-failed", "[[mcp_tools]][[mcp failed]][[say The notes| did not answer.]]"),
    ("openai/mcp-list-tools-failed", "[[mcp_tools failed]][[say The notes| are out of reach.]]"),
    (
        "openai/parallel-function-calls",
        "[[call get_weather {\"city\":\"|Oslo\"}]][[call get_weather {\"city\":\"|Rome\"}]]",
    ),
    ("openai/reasoning-summary", SUMMARY),
    ("openai/reasoning-text", THOUGHT),
    ("openai/refusal", "[[refuse]]"),
    ("openai/shell-call", "[[shell ls| -a;cat| notes.txt]][[say Buy| milk.]]"),
    ("openai/text", "[[pad]][[say Hello|, wor|ld.]]"),
    ("openai/two-parts", PARTS),
    ("openai/web-search", SEARCH),
    ("open-responses/annotations", CITED),
    ("open-responses/error", "[[error 400]]"),
    ("open-responses/failed", "[[fail]]"),
    ("open-responses/function-call", CALL),
    ("open-responses/incomplete", CUT),
    (
        "open-responses/parallel-function-calls",
        "[[call get_weather {\"city\":\"|Oslo\"} interleaved]][[call get_weather {\"city\":\"|Rome\"}]]",
    ),
    ("open-responses/reasoning-summary", SUMMARY),
    ("open-responses/reasoning-text", THOUGHT),
    ("open-responses/refusal", "[[refuse]]"),
    ("open-responses/response", HELLO),
    ("open-responses/text", HELLO),
    ("open-responses/two-parts", PARTS),
    ("aitronos/text", "[[say Hello|! How can I| help you?]]"),
    ("aitronos/failed", "[[say Hello|.]][[fail after 2]]"),
    ("eugpt/text", "[[rewrite]][[say Hello|, |world.]]"),
    ("eugpt/error", "[[say Hello|.]][[fail after 3]]"),
    ("vllm-responses/text", "[[say Hello| world]]"),
    ("vllm-responses/failed", "[[fail]]"),
    ("vllm-responses/incomplete", "[[say Hello| wor]][[incomplete]]"),
    ("vllm-responses/mcp-call", "[[mcp {\"query\":|\"migration notes\"}]][[say One page| found.]]"),
    ("wave/incomplete", "[[say Once upon a time| there was]][[incomplete]]"),
    ("wave/text", "[[say Hello|, how| can I help you?]]"),
];

const HELLO: &str = "[[say Hello|, wor|ld.]]";
const CALL: &str = "[[call get_weather {\"|city|\":\"|Oslo|\"}]]";
const CUT: &str = "[[say Once upon| a time there]][[incomplete]][[usage 20 16]]";
const PARTS: &str = "[[say First| part.]][[and Second| part.]]";
const THOUGHT: &str = "[[think Two and two| make four.]][[say Four|.]]";
const SUMMARY: &str = "[[summarize **Adding|**\\n\\nTwo and two.]]\
    [[summarize **Answering|**\\n\\nIt is four.]][[say Four|.]]";
const CITED: &str = "[[say Zürich has 4|48,664 inhabitants |\
    ([Stadt Zürich](https://example.org/zurich))|.]][[cite]]";
const SEARCH: &str = "[[web_search population of Zürich]][[say Zürich has 4|48,664 inhabitants |\
    ([Stadt Zürich](https://example.org/zurich))|.]][[cite]]";

/// Returns a request with this input, for a response like a golden: streaming unless the golden is not a stream.
pub(in crate::content) fn request(golden: &str, input: &str) -> Value {
    let counts = if input.contains("[[usage") { "" } else { "[[usage 20 20]]" };
    // With model `auto`, the stream has an additional event in some dialects.
    let model = if golden.starts_with("eugpt/") { "auto" } else { "reference-1" };
    let mut request = json!({"model": model, "input": format!("{input}{counts}"), "stream": true});
    let shape = golden.split_once('/').map_or(golden, |(_, shape)| shape);
    match shape {
        "background" => request["background"] = json!(true),
        "incomplete" => request["max_output_tokens"] = json!(16),
        "response" | "error" => request["stream"] = json!(false),
        "function-call" | "parallel-function-calls" => {
            request["tools"] = json!([{"type": "function", "name": "get_weather",
                "description": "Current weather of a city", "strict": true,
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}},
                    "required": ["city"], "additionalProperties": false}}]);
        }
        "custom-tool" => request["tools"] = json!([{"type": "custom", "name": "run_query"}]),
        "web-search" => request["tools"] = json!([{"type": "web_search"}]),
        "file-search" => request["tools"] = json!([{"type": "file_search", "vector_store_ids": ["vs_1"]}]),
        "image-generation" => request["tools"] = json!([{"type": "image_generation", "partial_images": 1}]),
        "apply-patch" => request["tools"] = json!([{"type": "apply_patch"}]),
        "code-interpreter" => {
            request["tools"] = json!([{"type": "code_interpreter", "container": {"type": "auto"}}]);
        }
        "shell-call" => {
            request["tools"] = json!([{"type": "shell",
                "environment": {"type": "container_reference", "container_id": "cntr_1"}}]);
        }
        shape if shape.starts_with("mcp-") => {
            request["tools"] = json!([{"type": "mcp", "server_label": "notes",
                "server_url": "https://mcp.example.com", "require_approval": "never"}]);
        }
        _ => {}
    }
    request
}
