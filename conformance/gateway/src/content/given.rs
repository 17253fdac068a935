//! Resources of the gateway for `given:NAME`.

use std::collections::BTreeMap;

/// Values of `given:NAME` by name. Any model can fail, as the directives of the request decide.
const GIVEN: [(&str, &str); 4] = [
    ("down-model", "default"),
    ("failing-model", "default"),
    ("limited-model", "default"),
    ("vector-store", "vs_1"),
];

/// Returns the resources of this gateway, except MCP servers: see [`McpServer`](crate::serving::mcp_server::McpServer).
pub fn given() -> BTreeMap<String, String> {
    GIVEN.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
