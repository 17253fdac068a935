//! The blocks of a message.

use serde_json::{Value, json};

use crate::content::plan::{Fragments, Item, Part, Thought};

/// The API accepts a thought again only with its signature.
const SIGNATURE: &str = "EuQBCkYICBgCKkBzaWduYXR1cmUtb2YtdGhlLWZpcnN0LXRob3VnaHQ=";
/// Something that only the API can read.
const ENCRYPTED: &str = "RW5jcnlwdGVk";

/// A block, as it is opened, its deltas, and as it is in the whole message.
pub(super) struct Block {
    pub(super) opened: Value,
    pub(super) deltas: Vec<Value>,
    pub(super) closed: Value,
}

/// The blocks of a message, with counters for their ids.
#[derive(Default)]
pub(super) struct Blocks {
    pub(super) all: Vec<Block>,
    calls: usize,
    hosted: usize,
    pub(super) searches: usize,
}

impl Blocks {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut blocks = Self::default();
        for item in items {
            blocks.add(item);
        }
        blocks
    }

    fn push(&mut self, opened: Value, deltas: Vec<Value>, closed: Value) {
        self.all.push(Block { opened, deltas, closed });
    }

    fn whole(&mut self, block: Value) {
        self.push(block.clone(), Vec::new(), block);
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Message(parts) => {
                for part in parts {
                    self.part(part);
                }
            }
            Item::Reasoning(thought) => self.thought(thought),
            Item::Function { name, arguments } => {
                self.calls += 1;
                let block = json!({"type": "tool_use", "id": format!("toolu_{}", self.calls), "name": name,
                    "input": {}});
                self.call(block, arguments);
            }
            Item::WebSearch(query) => self.search(query),
            Item::McpCall { server, name, output, arguments, fails } => {
                self.hosted += 1;
                let id = format!("mcptoolu_{}", self.hosted);
                let block = json!({"type": "mcp_tool_use", "id": id, "name": name, "input": {},
                    "server_name": server});
                self.call(block, arguments);
                let text = output.as_deref().filter(|_| !fails).unwrap_or("The server did not answer.");
                self.whole(json!({"type": "mcp_tool_result", "tool_use_id": id, "is_error": fails,
                    "content": [{"type": "text", "text": text, "citations": null}]}));
            }
            Item::Compaction(_)
            | Item::Custom { .. }
            | Item::FileSearch(_)
            | Item::Code(..)
            | Item::Image(_)
            | Item::McpTools { .. }
            | Item::Shell(_)
            | Item::Patch(_) => {}
        }
    }

    fn part(&mut self, part: &Part) {
        let (words, annotations) = match part {
            Part::Text(words, annotations) => (words, annotations.as_slice()),
            Part::Refusal(words) => (words, [].as_slice()),
        };
        let mut opened = json!({"type": "text", "text": ""});
        let mut closed = json!({"type": "text", "text": words.concat()});
        let citations: Vec<Value> = annotations.iter().map(citation).collect();
        if !citations.is_empty() {
            opened["citations"] = json!([]);
            closed["citations"] = json!(citations);
        }
        let cited = citations.iter().map(|citation| json!({"type": "citations_delta", "citation": citation}));
        let deltas =
            cited.chain(words.iter().map(|text| json!({"type": "text_delta", "text": text}))).collect();
        self.push(opened, deltas, closed);
    }

    fn thought(&mut self, thought: &Thought) {
        let words: Option<Fragments> = thought.text.clone().or_else(|| {
            let summary = thought.summary.iter().map(|words| words.concat()).collect::<Vec<_>>();
            (!summary.is_empty()).then(|| vec![summary.join("\n\n")])
        });
        let Some(words) = words else {
            return self.whole(json!({"type": "redacted_thinking", "data": ENCRYPTED}));
        };
        let deltas = words.iter().map(|text| json!({"type": "thinking_delta", "thinking": text}));
        let signature = json!({"type": "signature_delta", "signature": SIGNATURE});
        let deltas = deltas.chain([signature]).collect();
        let with =
            |text: &str, signature| json!({"type": "thinking", "thinking": text, "signature": signature});
        self.push(with("", ""), deltas, with(&words.concat(), SIGNATURE));
    }

    /// Adds a call. Its input arrives as text. The first piece is empty.
    fn call(&mut self, opened: Value, input: &[String]) {
        let delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
        let text = input.concat();
        let pieces: &[String] = if text == "{}" { &[] } else { input };
        let deltas = std::iter::once("").chain(pieces.iter().map(String::as_str)).map(delta).collect();
        let mut closed = opened.clone();
        closed["input"] = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        self.push(opened, deltas, closed);
    }

    fn search(&mut self, query: &str) {
        self.hosted += 1;
        self.searches += 1;
        let id = format!("srvtoolu_{}", self.hosted);
        let block = json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {},
            "caller": {"type": "direct"}});
        self.call(block, &["{\"query\":".to_owned(), format!(" {}}}", json!(query))]);
        self.whole(json!({"type": "web_search_tool_result", "tool_use_id": id, "caller": {"type": "direct"},
            "content": [{"type": "web_search_result", "title": "Tides", "url": "https://example.org/tides",
                "encrypted_content": ENCRYPTED, "page_age": null}]}));
    }

    /// Leaves out the results of the last search. A paused turn waits for them.
    pub(super) fn without_last_result(&mut self) {
        let is_result = |block: &Block| block.closed["type"] == "web_search_tool_result";
        if self.all.last().is_some_and(is_result) {
            self.all.pop();
            self.searches -= 1;
        }
    }
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
