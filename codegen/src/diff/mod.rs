//! Differences between two dialects, or two versions of one, and which side each breaks.
//!
//! Both sides are walked in parallel from every common event type and body. A difference is reported once, under
//! the named schema that contains it, with the events and bodies through which it is reached. Schemas are paired by
//! place, not by name: `ItemField / OutputItem` is one pair. A named schema equals the same schema written inline.

mod change;
mod compare;
mod human;
mod limits;
mod objects;
mod outcome;
mod pairs;
mod scalars;
mod shape;
mod side;
mod variants;

use serde::Serialize;

pub use change::{Breaks, Change, Finding};
pub use human::human;
pub use side::Side;

/// The differences between two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// Version of this format. It increases when a consumer has to change.
    pub version: u32,
    /// Name of the first side.
    pub a: String,
    /// Name of the second side.
    pub b: String,
    /// Number of our own corrections of a published schema that were left out.
    pub errata_left_out: usize,
    /// Event types.
    pub events: Events,
    /// Named types without a counterpart. Their uses are differences of their own.
    pub types: OneSided,
    /// Bodies of one side only, by role.
    pub roots: OneSided,
    /// Schemas with differences: events first, then types, the most used first.
    pub schemas: Vec<SchemaDiff>,
    /// Numbers of differences.
    pub counts: Counts,
}

/// Event types of both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Events {
    /// Events of the second side only. Each breaks a reader that rejects unknown events.
    pub added: Vec<String>,
    /// Events of the first side only. Each breaks a writer that sends it.
    pub removed: Vec<String>,
    /// Events without differences.
    pub unchanged: Vec<String>,
    /// Events with differences, also in types that they use.
    pub changed: Vec<String>,
}

/// Names of one side only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OneSided {
    /// Names of the second side only.
    pub added: Vec<String>,
    /// Names of the first side only.
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
    /// The differences.
    pub changes: Vec<Finding>,
}

/// The kind of a named schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An event.
    Event,
    /// A named type.
    Type,
}

/// Numbers of differences. Every event added or removed counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub changes: usize,
    /// Differences that break a reader.
    pub breaking_for_reader: usize,
    /// Differences that break a writer.
    pub breaking_for_writer: usize,
}

impl Diff {
    /// Returns whether there is no difference.
    pub const fn is_empty(&self) -> bool {
        self.counts.changes == 0
            && self.types.added.is_empty()
            && self.types.removed.is_empty()
            && self.roots.added.is_empty()
            && self.roots.removed.is_empty()
    }

    pub(crate) fn about_errata(&self) -> Option<String> {
        let corrections = match self.errata_left_out {
            0 => return None,
            1 => "1 erratum is".to_owned(),
            many => format!("{many} errata are"),
        };
        Some(format!(
            "Our own {corrections} left out: the dialect is compared as published. Apply them with --with-errata."
        ))
    }
}

impl SchemaDiff {
    /// Returns its name, or both names if they differ.
    pub fn title(&self) -> String {
        if self.a == self.b { self.a.clone() } else { format!("{} / {}", self.a, self.b) }
    }
}

/// Compares two sides.
pub fn diff(a: &Side, b: &Side) -> Diff {
    compare::Comparison::of(a, b).into_diff()
}

/// Renders a diff as JSON, in the format of its `version`.
pub fn json(diff: &Diff) -> String {
    let text = serde_json::to_string_pretty(diff).expect("its keys are strings and its numbers finite");
    text + "\n"
}
