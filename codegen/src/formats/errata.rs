//! `dialects/<name>/errata.toml`

use serde::{Deserialize, Serialize};

/// Corrections of a published schema.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ErrataFile {
    /// The corrections, in the order they are made.
    #[serde(default, rename = "erratum")]
    pub errata: Vec<Erratum>,
}

/// One correction, why it is made and where its need was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Erratum {
    /// Why the published schema is wrong.
    pub reason: String,
    /// Where that was seen.
    pub evidence: String,
    /// What is changed.
    #[serde(flatten)]
    pub change: Change,
}

/// What an erratum changes. A place is `<file>#<JSON pointer>`, relative to the dialect's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// `null` is allowed there too.
    Nullable(Vec<String>),
    /// These properties need not be there.
    Optional(Vec<String>),
    /// An enumeration has more values.
    Values(MoreValues),
    /// A schema is replaced.
    Set(Replacement),
    /// These files are not published, but real.
    Adds(Vec<String>),
}

/// More values of an enumeration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MoreValues {
    /// Place of the schema that holds the `enum`.
    pub at: String,
    /// The values to add.
    pub add: Vec<String>,
}

/// A schema in place of another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// Place of the schema.
    pub at: String,
    /// The new schema, as JSON text.
    pub to: String,
}
