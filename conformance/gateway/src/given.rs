//! What others have to be told about an endpoint, and the gateway's owner knows.

use std::collections::BTreeMap;

/// By name, what to put in the place of `given:NAME` in a request. Any model will do where one is asked for
/// that fails: the directives of the request see to that.
const GIVEN: [(&str, &str); 4] = [
    ("down-model", "default"),
    ("failing-model", "default"),
    ("limited-model", "default"),
    ("vector-store", "vs_1"),
];

/// What scenarios that need to be given something are given for this gateway, but for an MCP server: those
/// are [`Notes`](super::Notes).
pub fn given() -> BTreeMap<String, String> {
    GIVEN.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
