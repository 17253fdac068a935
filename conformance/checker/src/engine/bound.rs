//! A rule in a dialect.

use catalogue::{Level, Rule};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) rule: &'static Rule,
    pub(crate) level: Level,
    /// Whether the reader chose the level, and not the dialect.
    pub(crate) is_chosen: bool,
    /// Whether the dialect lowers the level, because its product breaks the rule.
    pub(crate) is_recorded: bool,
}
