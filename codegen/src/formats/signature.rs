//! How the events and bodies of an API are recognised: in `apis/<name>/api.toml`, and in `foreign.toml`.

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

/// What only the events and bodies of an API have. In patterns, `*` at the beginning or at the end stands for any text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Signature {
    /// Patterns of the types of its events.
    pub events: Vec<String>,
    /// Its bodies.
    pub bodies: Vec<Mark>,
    /// Its events that have no type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<Mark>,
}

/// What an object has. All of it must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Mark {
    /// JSON pointers to texts, with their patterns.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// JSON pointers to lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// JSON pointers to any value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub has: Vec<String>,
    /// JSON pointers without a value, or with null.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

/// The names that another API gives to properties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Misnomers {
    /// The name of the other API.
    pub api: String,
    /// The properties, with their names there.
    pub names: BTreeMap<String, String>,
}

/// The APIs that the suite does not check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForeignFile {
    /// The APIs. Of several that fit, the first one counts.
    #[serde(default, rename = "api")]
    pub apis: Vec<ForeignApi>,
}

/// An API that the suite does not check, but recognises.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForeignApi {
    /// Its name in messages.
    pub name: String,
    /// What the paths of its URLs end with, the path of its main operation first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// How its events and bodies are recognised.
    #[serde(default)]
    pub signature: Signature,
}
