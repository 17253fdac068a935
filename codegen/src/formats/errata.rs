//! `dialects/<name>/errata.toml`

use serde::{Deserialize, Serialize};

/// Corrections of a published schema.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ErrataFile {
    /// The corrections, in order.
    #[serde(default, rename = "erratum")]
    pub errata: Vec<Erratum>,
}

/// A correction, with its reason and evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Erratum {
    /// Why the published schema is wrong.
    pub reason: String,
    /// Where the evidence was seen.
    pub evidence: String,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}

/// The change of an erratum. A place is `<file>#<JSON pointer>`, relative to the dialect's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Allows `null` at these places.
    Nullable(Vec<String>),
    /// Makes these properties optional.
    Optional(Vec<String>),
    /// Adds values to an enumeration.
    Values(MoreValues),
    /// Replaces a schema.
    Set(Replacement),
    /// Files of types or events that exist, but are not published.
    Adds(Vec<String>),
}

/// Additional values of an enumeration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MoreValues {
    /// Place of the schema that holds the `enum`.
    pub at: String,
    /// The values to add.
    pub add: Vec<String>,
}

/// The replacement of a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// Place of the schema.
    pub at: String,
    /// The new schema, as JSON text.
    pub to: String,
}
