//! The bounds of an enumeration.

/// Which of the streams are made, as there is no end of them.
#[derive(Debug, Clone)]
pub struct Bounds<'b> {
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
    pub effects: usize,
    /// Whether a container may begin before the one before it has ended.
    pub interleaved: bool,
    /// The types of values; all if empty.
    pub kinds: &'b [&'b str],
}
