//! `[published]` in `apis/<name>/api.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where documents and SDKs have the events and bodies of an API.
///
/// A place is the name of a schema, or an operation: `post /path` for its request, `post /path 200` for its response,
/// `post /path extension` for what is under that key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Names of all unions of events, or of single events. An operation counts if the document has none of the names.
    pub events: Vec<String>,
    /// Schemas among the events that are not part of a stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// The places of bodies, by their role in a dialect; the first that exists counts.
    #[serde(default)]
    pub bodies: BTreeMap<String, Vec<String>>,
}
