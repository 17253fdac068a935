//! The words of tables: scopes, roles, slots, levels, operations.

include!(concat!(env!("OUT_DIR"), "/words.rs"));
include!(concat!(env!("OUT_DIR"), "/scopes.rs"));

/// The properties of a scope.
#[derive(Debug, Clone, Copy)]
pub struct ScopeInfo {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub description: &'static str,
    /// The parent scope.
    pub parent: Option<Scope>,
    /// The values that identify one among its siblings, the outermost first.
    pub key: &'static [Slot],
    /// The `type`s of the parent that can contain it; any if empty.
    pub of: &'static [&'static str],
    /// Place of its final value in the value that closes its parent.
    pub in_parent: Option<&'static str>,
    /// Place of its final value in the terminal response.
    pub in_response: Option<&'static str>,
    /// Its phases, in order.
    pub phases: &'static [&'static str],
    /// The phases that end it.
    pub ends: &'static [&'static str],
}

impl Slot {
    /// Returns the default member of an event for the slot.
    pub fn name(self) -> &'static str {
        Self::USUAL.iter().find(|(_, slot)| *slot == self).map_or("value", |(name, _)| name)
    }
}

impl Level {
    /// Returns the keyword of RFC 2119.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Off => "not checked",
            Self::May => "MAY",
            Self::Should => "SHOULD",
            Self::Must => "MUST",
        }
    }
}
