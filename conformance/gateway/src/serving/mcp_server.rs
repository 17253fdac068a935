//! A small MCP server, over streamable HTTP: one tool that searches notes, and a variant of it that fails.

use std::io;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};

use super::cors;
use super::host::Host;

/// Maximum size of a request body.
const LARGEST: usize = 2 << 20;

/// A small MCP server in this process, on a free port, stopped when dropped.
#[derive(Debug)]
pub struct McpServer(Host);

impl McpServer {
    /// Starts the server.
    ///
    /// # Errors
    ///
    /// Fails if no port is free.
    pub fn start() -> io::Result<Self> {
        let works = post(|body: Bytes| async move { answer(&body, found) });
        let fails = post(|body: Bytes| async move { answer(&body, unreadable) });
        let app = Router::new().route("/mcp", works).route("/failing", fails);
        Host::start(cors::guarded(app, &[], LARGEST)).map(Self)
    }

    /// The URL of the working tool.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.0.address())
    }

    /// The URL of a server whose tools can be listed, but whose calls fail.
    pub fn failing_url(&self) -> String {
        format!("http://{}/failing", self.0.address())
    }
}

/// A tool: returns the member of the response for these parameters, `result` or `error`, and its value.
type Called = fn(Option<&Value>) -> (&'static str, Value);

fn answer(body: &[u8], called: Called) -> Response {
    let Ok(message) = serde_json::from_slice::<Value>(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    // A notification, which has no id, gets no response.
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let params = message.get("params");
    let (name, value) = match message.get("method").and_then(Value::as_str) {
        Some("initialize") => ("result", greeting(params)),
        Some("ping") => ("result", json!({})),
        Some("tools/list") => ("result", json!({"tools": [tool()]})),
        Some("tools/call") => match params.and_then(|params| params.get("name")?.as_str()) {
            Some("search_notes") => called(params),
            _ => ("error", json!({"code": -32602, "message": "Unknown tool."})),
        },
        _ => ("error", json!({"code": -32601, "message": "Unknown method."})),
    };
    let answer = json!({"jsonrpc": "2.0", "id": id, name: value}).to_string();
    ([(header::CONTENT_TYPE, "application/json")], answer).into_response()
}

fn greeting(params: Option<&Value>) -> Value {
    let version = params.and_then(|params| params.get("protocolVersion")?.as_str());
    json!({"protocolVersion": version.unwrap_or("2025-06-18"), "capabilities": {"tools": {}},
        "serverInfo": {"name": "notes", "version": env!("CARGO_PKG_VERSION")}})
}

fn tool() -> Value {
    json!({"name": "search_notes", "description": "Searches the notes of the user for a word.",
        "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}})
}

fn found(params: Option<&Value>) -> (&'static str, Value) {
    let query = params.and_then(|params| params.pointer("/arguments/query")?.as_str()).unwrap_or_default();
    let text = format!("One note has the word {query}.");
    ("result", json!({"content": [{"type": "text", "text": text}], "isError": false}))
}

fn unreadable(_: Option<&Value>) -> (&'static str, Value) {
    ("error", json!({"code": -32603, "message": "The notes cannot be read."}))
}
