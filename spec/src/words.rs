//! The words of tables: roles, levels, markers, operations.

include!(concat!(env!("OUT_DIR"), "/words.rs"));

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
