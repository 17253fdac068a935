//! The bounds of an enumeration.

use serde::Deserialize;

/// Which of the streams are made, as there is no end of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Most events.
    pub events: usize,
    /// Most containers.
    pub containers: u64,
    /// Most occurrences of another scope in one around it.
    pub siblings: u64,
    /// Most deltas of a text.
    pub fragments: u64,
    /// Most points in an occurrence.
    pub points: u64,
    /// Most effects of an event.
    #[serde(default = "one")]
    pub effects: usize,
    /// Whether an event may have effects that no golden has together.
    #[serde(default)]
    pub combined: bool,
    /// Whether a container may begin before the one before it has ended.
    #[serde(default)]
    pub interleaved: bool,
    /// The types of values; all if empty.
    #[serde(default)]
    pub kinds: Vec<String>,
}

pub(crate) const fn one() -> usize {
    1
}
