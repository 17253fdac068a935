//! `requests.toml`

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The requests that clients send for goldens, and the goldens whose events are put out of order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RequestsFile {
    /// The goldens whose events are dropped, repeated, swapped and altered, one at a time: `<dialect>/<name>`. Together they
    /// have what most streams have, and most clients can ask for them.
    pub reordered: Vec<String>,
    /// The requests.
    #[serde(rename = "request")]
    pub requests: Vec<GoldenRequest>,
}

/// A request, and the goldens that are responses to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GoldenRequest {
    /// The goldens: `<dialect>/<name>`.
    pub goldens: Vec<String>,
    /// The body, without `stream`.
    pub body: Value,
}
