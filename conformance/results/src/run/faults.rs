//! Number of findings by level.

use catalogue::Level;
use checker::Finding;
use serde::{Deserialize, Serialize};

/// Number of findings by level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Faults {
    /// Of MUST rules.
    pub errors: u64,
    /// Of SHOULD rules.
    pub warnings: u64,
    /// Of MAY rules.
    pub notes: u64,
}

impl Faults {
    /// Adds a finding as often as it was seen.
    pub fn add(&mut self, finding: &Finding) {
        *match finding.level {
            Level::Must => &mut self.errors,
            Level::Should => &mut self.warnings,
            Level::May | Level::Off => &mut self.notes,
        } += finding.count;
    }

    pub(super) const fn join(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
    }

    /// The numbers above zero, the worst first, with their nouns.
    pub fn non_zero(self) -> impl Iterator<Item = (u64, &'static str)> {
        let all = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        all.into_iter().filter(|(count, _)| *count > 0)
    }

    /// The sum of the numbers.
    pub const fn all(self) -> u64 {
        self.errors + self.warnings + self.notes
    }

    /// The numbers of this level and above.
    #[must_use]
    pub fn from(mut self, shown: Level) -> Self {
        if shown > Level::May {
            self.notes = 0;
        }
        if shown > Level::Should {
            self.warnings = 0;
        }
        self
    }
}
