//! Parts that only Messages has.

use serde_json::{Value, json};

use crate::content::plan::{Fragments, Item};

/// Something that only the API can read.
pub(super) const ENCRYPTED: &str = "RW5jcnlwdGVk";

/// A part, as it is opened, its deltas, and as it is in the whole message.
pub(super) struct Given {
    pub(super) opened: Value,
    pub(super) pieces: Vec<Value>,
    pub(super) closed: Value,
}

fn whole(block: Value) -> Given {
    Given { opened: block.clone(), pieces: Vec::new(), closed: block }
}

/// The input arrives as text. The first piece is empty.
fn call(opened: Value, input: &[String]) -> Given {
    let delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let text = input.concat();
    let pieces: &[String] = if text == "{}" { &[] } else { input };
    let pieces = std::iter::once("").chain(pieces.iter().map(String::as_str)).map(delta).collect();
    let mut closed = opened.clone();
    closed["input"] = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    Given { opened, pieces, closed }
}

/// A search, and its results.
pub(super) fn search(number: usize, query: &str) -> [Given; 2] {
    let id = format!("srvtoolu_{number}");
    let block = json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {},
        "caller": {"type": "direct"}});
    let results = json!({"type": "web_search_tool_result", "tool_use_id": id, "caller": {"type": "direct"},
        "content": [{"type": "web_search_result", "title": "Tides", "url": "https://example.org/tides",
            "encrypted_content": ENCRYPTED, "page_age": null}]});
    [call(block, &["{\"query\":".to_owned(), format!(" {}}}", json!(query))]), whole(results)]
}

/// A call of a tool of an MCP server, and its result.
pub(super) fn mcp(number: usize, item: &Item) -> Vec<Given> {
    let Item::McpCall { server, name, output, arguments, fails } = item else { return Vec::new() };
    let id = format!("mcptoolu_{number}");
    let block = json!({"type": "mcp_tool_use", "id": id, "name": name, "input": {}, "server_name": server});
    let text = output.as_deref().filter(|_| !fails).unwrap_or("The server did not answer.");
    let result = json!({"type": "mcp_tool_result", "tool_use_id": id, "is_error": fails,
        "content": [{"type": "text", "text": text, "citations": null}]});
    vec![call(block, arguments), whole(result)]
}

/// A text with citations.
pub(super) fn cited(words: &Fragments, annotations: &[Value]) -> Given {
    let citations: Vec<Value> = annotations.iter().map(citation).collect();
    let opened = json!({"type": "text", "text": "", "citations": []});
    let closed = json!({"type": "text", "text": words.concat(), "citations": citations});
    let cited = citations.iter().map(|citation| json!({"type": "citations_delta", "citation": citation}));
    let texts = words.iter().map(|text| json!({"type": "text_delta", "text": text}));
    Given { opened, pieces: cited.chain(texts).collect(), closed }
}

fn citation(annotation: &Value) -> Value {
    let of = |name: &str| annotation.get(name).cloned().unwrap_or_default();
    if annotation["type"] == "url_citation" {
        return json!({"type": "web_search_result_location", "cited_text": "High tide is at noon.",
            "url": of("url"), "title": of("title"), "encrypted_index": ENCRYPTED});
    }
    json!({"type": "char_location", "cited_text": "The grass is green.", "document_index": 0,
        "document_title": of("filename"), "start_char_index": 0, "end_char_index": 19, "file_id": null})
}
