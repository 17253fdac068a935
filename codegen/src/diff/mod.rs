//! What differs between two dialects, or two versions of one, and whom a difference breaks.
//!
//! Both sides are walked in parallel from every event type and every body that they share. A
//! difference is reported once, under the named schema that holds it, with the events and bodies
//! through which it is reached. Schemas are paired by where they stand, not by their names:
//! `ItemField / OutputItem` is one pair. Whether a schema is named or written in place is no
//! difference.

mod change;
mod compare;
mod human;
mod json;
mod limits;
mod markdown;
mod objects;
mod outcome;
mod pairs;
mod scalars;
mod shape;
mod side;
mod variants;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use change::{Breaks, Change, Finding};
pub use human::human;
pub use json::json;
pub use markdown::markdown;
pub use side::Side;

/// All that differs between two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// Version of this format: it rises when a consumer has to change.
    pub version: u32,
    /// Name of the first side.
    pub a: String,
    /// Name of the second side.
    pub b: String,
    /// How many of our own corrections of a published schema were left out of the comparison.
    pub errata_left_out: usize,
    /// Event types.
    pub events: Events,
    /// Named types that the other side has nothing for. Where they are used is a difference of its
    /// own.
    pub types: OneSided,
    /// Bodies, by their role, that only one side has.
    pub roots: OneSided,
    /// The schemas that differ: events first, then types, those that are reached most first.
    pub schemas: Vec<SchemaDiff>,
    /// How many differences there are.
    pub counts: Counts,
}

/// Event types of both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Events {
    /// Only the second side has them. Each breaks a reader that knows no others.
    pub added: Vec<String>,
    /// Only the first side has them. Each breaks a writer that sends it.
    pub removed: Vec<String>,
    /// Both have them, and everything that they hold is the same.
    pub unchanged: Vec<String>,
    /// Both have them, and they or something that they hold differs.
    pub changed: Vec<String>,
}

/// Names that only one side has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OneSided {
    /// Only the second side has them.
    pub added: Vec<String>,
    /// Only the first side has them.
    pub removed: Vec<String>,
}

/// A pair of schemas that differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemaDiff {
    /// Whether it is an event or a named type.
    pub kind: Kind,
    /// Its name on the first side.
    pub a: String,
    /// Its name on the second side.
    pub b: String,
    /// The events through which it is reached.
    pub events: Vec<String>,
    /// The bodies through which it is reached, by their role.
    pub roots: Vec<String>,
    /// What differs.
    pub changes: Vec<Finding>,
}

/// What a schema is the schema of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An event.
    Event,
    /// A named type.
    Type,
}

/// How many differences there are. Every event added or removed is one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub changes: usize,
    /// Those that break a reader.
    pub breaking_for_reader: usize,
    /// Those that break a writer.
    pub breaking_for_writer: usize,
}

impl Diff {
    /// Returns whether nothing differs.
    pub const fn is_empty(&self) -> bool {
        self.counts.changes == 0
            && self.types.added.is_empty()
            && self.types.removed.is_empty()
            && self.roots.added.is_empty()
            && self.roots.removed.is_empty()
    }
}

impl Diff {
    /// That our own corrections are no part of it, if so.
    pub(crate) fn about_errata(&self) -> Option<String> {
        let corrections = match self.errata_left_out {
            0 => return None,
            1 => "1 erratum is".to_owned(),
            many => format!("{many} errata are"),
        };
        Some(format!(
            "Our own {corrections} left out: a dialect is compared as it is published (--with-errata)."
        ))
    }
}

impl SchemaDiff {
    /// Returns its name, or both when it has two.
    pub fn title(&self) -> String {
        if self.a == self.b { self.a.clone() } else { format!("{} / {}", self.a, self.b) }
    }
}

/// Compares two sides.
pub fn diff(a: &Side, b: &Side) -> Diff {
    compare::Comparison::of(a, b).into_diff()
}
