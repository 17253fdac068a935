//! `dialects/<name>/guarantees.toml`

use serde::Deserialize;

use super::Coverage;
use super::violation::Edits;

/// Guarantees about streams in the document of a dialect, beyond the schema of single events.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GuaranteesFile {
    /// The guarantees.
    #[serde(default, rename = "guarantee")]
    pub guarantees: Vec<Guarantee>,
}

/// A guarantee. It has exactly one of `rules` (with `scenarios`), `unobservable` and `open`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// Its id.
    pub id: String,
    /// The guarantee, in our words.
    pub statement: String,
    /// Its place in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The event types that it applies to; all if empty.
    #[serde(default)]
    pub events: Vec<String>,
    /// Rules that check it.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Scenarios that check it.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// Streams that violate it; together they break each of its rules.
    #[serde(default)]
    pub broken_by: Vec<EditedGolden>,
    /// Why no stream shows whether it is met.
    pub unobservable: Option<String>,
    /// The rule that is missing.
    pub open: Option<String>,
}

/// A golden and its edits.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EditedGolden {
    /// The golden: `<dialect>/<name>`.
    pub golden: String,
    /// The edits, one a line, as in the `violation` block of a rule page.
    pub edits: Edits,
}

impl Guarantee {
    /// Returns its coverage; `None` if it has none, or several.
    pub fn stated_coverage(&self) -> Option<Coverage> {
        Coverage::stated(&self.rules, &self.scenarios, self.unobservable.as_ref(), self.open.as_ref())
    }
}
