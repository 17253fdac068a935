//! A client of the MCP servers of a request, limited to servers on this machine.

use std::time::Duration;

use reqwest::{Client, Response, Url, redirect};
use serde_json::{Value, json};

use super::host::is_loopback;
use crate::content::items::ToolItem;
use crate::content::pieces::fragments_of;
use crate::content::plan::{Item, ResponsePlan};
use crate::content::text;

/// Timeout of a server.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of its response.
const LARGEST: usize = 1 << 20;
/// Maximum number of servers of a request.
const SERVERS: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Servers(Vec<Server>);

#[derive(Debug)]
struct Server {
    label: String,
    /// Its tools and the result of calling the first one, unless the server could not be reached.
    said: Option<Said>,
}

#[derive(Debug)]
struct Said {
    tools: Vec<Value>,
    arguments: Value,
    output: Option<String>,
}

impl Servers {
    pub(super) async fn ask(request: &Value) -> Self {
        let mut servers = Vec::new();
        let tools = request.get("tools").and_then(Value::as_array).into_iter().flatten();
        for tool in tools.filter(|tool| text(tool, "type") == Some("mcp")) {
            let url = text(tool, "server_url").and_then(|url| Url::parse(url).ok()).filter(is_here);
            if let (Some(url), Some(label)) = (url, text(tool, "server_label"))
                && servers.len() < SERVERS
            {
                servers.push(Server { label: label.to_owned(), said: explore(&url).await });
            }
        }
        Self(servers)
    }

    pub(super) fn announce(&self, plan: &mut ResponsePlan) {
        for Server { label, said } in &self.0 {
            plan.items.retain_mut(|item| match item {
                Item::Tool(item) if item.value("server") == Some(label) => is_announced(item, said.as_ref()),
                _ => true,
            });
        }
    }
}

/// A server that could not be reached is not called.
fn is_announced(item: &mut ToolItem, said: Option<&Said>) -> bool {
    let is_list = item.values.get("tools").is_some();
    match said {
        None => item.set(json!({"failed": true})),
        Some(said) if is_list => item.set(json!({"tools": said.tools})),
        Some(Said { tools, arguments, output }) => {
            let first = tools.first().and_then(|tool| text(tool, "name"));
            item.texts = vec![fragments_of(&arguments.to_string())];
            item.set(
                json!({"name": first.unwrap_or_default(), "failed": output.is_none(), "output": output}),
            );
        }
    }
    is_list || said.is_some()
}

/// Nobody else is contacted.
fn is_here(url: &Url) -> bool {
    url.scheme() == "http" && is_loopback(url)
}

async fn explore(url: &Url) -> Option<Said> {
    tokio::time::timeout(PATIENCE, talk(url)).await.ok().flatten()
}

async fn talk(url: &Url) -> Option<Said> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Without TLS, no certificates are read.
    let http = Client::builder().no_proxy().tls_certs_only([]).redirect(redirect::Policy::none());
    let http = http.build().ok()?;
    let mut session = Session { http, url, id: None, count: 0 };
    let client = json!({"name": "reference-gateway", "version": env!("CARGO_PKG_VERSION")});
    session
        .ask(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        )
        .await?;
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
    let listed = session.ask("tools/list", &json!({})).await?;
    let tools: Vec<Value> = listed.get("tools")?.as_array()?.iter().filter_map(tool_entry).collect();
    let (mut arguments, mut output) = (json!({}), None);
    if let Some(tool) = tools.first() {
        arguments = crate::content::fitting::value(tool.get("input_schema").unwrap_or(&Value::Null));
        if arguments.get("query").is_some() {
            arguments["query"] = json!("migration");
        }
        let call = json!({"name": tool.get("name"), "arguments": arguments});
        let result = session.ask("tools/call", &call).await;
        output = result.and_then(|result| Some(result.pointer("/content/0/text")?.as_str()?.to_owned()));
    }
    Some(Said { tools, arguments, output })
}

fn tool_entry(tool: &Value) -> Option<Value> {
    let schema = tool.get("inputSchema").filter(|schema| schema.is_object()).cloned();
    Some(json!({"name": text(tool, "name")?, "description": text(tool, "description"),
        "input_schema": schema.unwrap_or_else(|| json!({})), "annotations": null}))
}

struct Session<'u> {
    http: Client,
    url: &'u Url,
    id: Option<reqwest::header::HeaderValue>,
    count: u64,
}

impl Session<'_> {
    async fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.count += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params});
        let mut response = self.send(&request).await?;
        if let Some(id) = response.headers().get("mcp-session-id") {
            self.id = Some(id.clone());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST {
                return None;
            }
        }
        // The response may be a stream of one event.
        let body = String::from_utf8(body).ok()?;
        let data = body.lines().find_map(|line| line.strip_prefix("data:")).unwrap_or(&body);
        serde_json::from_str::<Value>(data).ok()?.get("result").cloned()
    }

    async fn send(&self, message: &Value) -> Option<Response> {
        let mut request = self
            .http
            .post(self.url.clone())
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        if let Some(id) = &self.id {
            request = request.header("mcp-session-id", id.clone());
        }
        let response = request.body(message.to_string()).send().await.ok()?;
        response.status().is_success().then_some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_on_this_machine_are_asked() {
        let is_here = |url: &str| is_here(&Url::parse(url).unwrap());
        for url in
            ["http://127.0.0.1:8080/mcp", "http://localhost/mcp", "http://[::1]:1/", "http://127.9.9.9/"]
        {
            assert!(is_here(url), "{url}");
        }
        for url in
            ["https://127.0.0.1/", "http://example.com/", "http://127.0.0.1.example.com/", "http://10.0.0.1/"]
        {
            assert!(!is_here(url), "{url}");
        }
    }
}
