//! Sample content of responses.

use serde_json::json;

use super::plan::{Fragments, Item, Part, fragments};

/// An image of one pixel.
pub(crate) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const TEXTS: [&str; 4] = [
    "Hello|, wor|ld.",
    "The| answer| is| forty|-two|.",
    "Once| upon| a time| there| was| a stream| that| came| to an| end|.",
    "Zürich|,| Ærø| and| 東京| are| far| apart| 🌍|.",
];

const CITIES: [&str; 4] = ["Oslo", "Rome", "Lima", "Cairo"];

pub(super) fn city(number: usize) -> &'static str {
    CITIES.get(number % CITIES.len()).copied().unwrap_or("Oslo")
}

pub(super) fn text(seed: u64) -> Fragments {
    let at = usize::try_from(seed % TEXTS.len() as u64).unwrap_or(0);
    TEXTS.get(at).map_or_else(Vec::new, |text| fragments(text))
}

pub(super) fn mcp_tools(server: &str, fails: bool) -> Item {
    let schema =
        json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let tool = json!({"annotations": {"read_only": true}, "description": "Search the notes",
        "input_schema": schema, "name": "search_notes"});
    Item::McpTools { server: server.to_owned(), tools: vec![tool], fails }
}

pub(super) fn mcp_call(server: &str, arguments: Fragments, fails: bool) -> Item {
    let output = Some("One note: Migration".to_owned());
    Item::McpCall { server: server.to_owned(), name: "search_notes".to_owned(), output, arguments, fails }
}

pub(super) fn parts(count: usize) -> Vec<Part> {
    let part = |number| Part::Text(vec![format!("Part {number}"), " ends.".to_owned()], Vec::new());
    (1..=count.max(1)).map(part).collect()
}

pub(crate) fn fragments_of(text: &str) -> Fragments {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(9).map(|piece| piece.iter().collect()).collect()
}
