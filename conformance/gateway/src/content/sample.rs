//! Sample content of responses.

use serde_json::{Map, Value, json};

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

/// Returns the name of a city for each number.
pub(super) fn city(number: usize) -> &'static str {
    CITIES.get(number % CITIES.len()).copied().unwrap_or("Oslo")
}

/// Returns a text for each seed.
pub(super) fn text(seed: u64) -> Fragments {
    let at = usize::try_from(seed % TEXTS.len() as u64).unwrap_or(0);
    TEXTS.get(at).map_or_else(Vec::new, |text| fragments(text))
}

/// Returns sample tools of an MCP server.
pub(super) fn mcp_tools(server: &str, fails: bool) -> Item {
    let schema =
        json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let tool = json!({"annotations": {"read_only": true}, "description": "Search the notes",
        "input_schema": schema, "name": "search_notes"});
    Item::McpTools { server: server.to_owned(), tools: vec![tool], fails }
}

/// Returns a sample call of such a tool.
pub(super) fn mcp_call(server: &str, arguments: Fragments, fails: bool) -> Item {
    let output = Some("One note: Migration".to_owned());
    Item::McpCall { server: server.to_owned(), name: "search_notes".to_owned(), output, arguments, fails }
}

/// Returns sample parts of a message.
pub(super) fn parts(count: usize) -> Vec<Part> {
    let part = |number| Part::Text(vec![format!("Part {number}"), " ends.".to_owned()], Vec::new());
    (1..=count.max(1)).map(part).collect()
}

/// Splits a text into fragments of a few characters.
pub(crate) fn fragments_of(text: &str) -> Fragments {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(9).map(|piece| piece.iter().collect()).collect()
}

/// Returns a value that a JSON Schema accepts, for the keywords of structured output.
pub(crate) fn value(schema: &Value) -> Value {
    fit(schema, schema, 0)
}

fn fit(root: &Value, schema: &Value, depth: usize) -> Value {
    if depth > 16 {
        return Value::Null;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = target.strip_prefix('#').unwrap_or_default();
        return root.pointer(pointer).map_or(Value::Null, |schema| fit(root, schema, depth + 1));
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|name| schema.get(name)?.as_array()) {
        // Null ends recursive schemas.
        let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
        let branch = if depth > 8 { branches.iter().find(is_null) } else { None };
        return branch.or(branches.first()).map_or(Value::Null, |branch| fit(root, branch, depth + 1));
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => schema.get("properties").map(|_| "object"),
    };
    match kind {
        Some("object") => {
            let mut object = Map::new();
            for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                object.insert(name.clone(), fit(root, schema, depth + 1));
            }
            Value::Object(object)
        }
        Some("array") => {
            let count =
                schema.get("minItems").and_then(Value::as_u64).unwrap_or(u64::from(depth < 8)).min(64);
            let entry = |_| schema.get("items").map_or(Value::Null, |items| fit(root, items, depth + 1));
            (0..count).map(entry).collect()
        }
        Some("string") => string(schema),
        Some("integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(7)),
        Some("number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(7.5)),
        Some("boolean") => Value::Bool(true),
        _ => Value::Null,
    }
}

fn string(schema: &Value) -> Value {
    let length =
        |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-01-15",
        Some("date-time") => "2026-01-15T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("email") => "ada@example.org",
        Some("uri") => "https://example.org/",
        Some("uuid") => "550e8400-e29b-41d4-a716-446655440000",
        _ => "Oslo",
    };
    let mut text = text.to_owned();
    let missing = length("minLength").unwrap_or(0).min(4096).saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n('o', missing));
    Value::from(text.chars().take(length("maxLength").unwrap_or(usize::MAX)).collect::<String>())
}
