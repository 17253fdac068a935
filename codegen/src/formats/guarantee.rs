//! `dialects/<name>/guarantees.toml`

use serde::{Deserialize, Serialize};

use super::Coverage;
use super::requirement::coverage;

/// What the document of a dialect promises about streams, beyond the shape of single events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GuaranteesFile {
    /// The promises.
    #[serde(default, rename = "guarantee")]
    pub guarantees: Vec<Guarantee>,
}

/// One promise. Exactly one thing is said of it: the rules and scenarios that see to
/// it, that it cannot be observed, or that it is still open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// Its id.
    pub id: String,
    /// What is promised, in our words.
    pub statement: String,
    /// Where the document says so.
    #[serde(rename = "where")]
    pub place: String,
    /// The event types that it is about; all of them, when empty.
    #[serde(default)]
    pub events: Vec<String>,
    /// Rules that see to it.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Scenarios that see to it.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// Streams that do not keep it; together they break each of its rules.
    #[serde(default)]
    pub broken_by: Vec<EditedGolden>,
    /// Why no stream can show whether it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobservable: Option<String>,
    /// Which rule is still to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
}

/// A good stream, and edits of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EditedGolden {
    /// The good stream: `<dialect>/<name>`.
    pub golden: String,
    /// The edits, one a line, as in the `violation` block of a rule page.
    pub edits: String,
}

impl Guarantee {
    /// Returns what is done about it; `None` when nothing is said, or more than one thing.
    pub fn coverage(&self) -> Option<Coverage<'_>> {
        coverage(&self.rules, &self.scenarios, self.unobservable.as_deref(), self.open.as_deref())
    }
}
