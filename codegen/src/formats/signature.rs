//! How the events and bodies of an API are recognised: in `apis/<name>/api.toml`, and in `foreign.toml`; and how the
//! recordings of a dialect are: in `dialects/<name>/dialect.toml`.

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::constant::words;

/// The marks that only the events and bodies of an API have. In patterns, each `*` stands for any text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Signature {
    /// Patterns of the types of its events.
    pub events: Vec<String>,
    /// Patterns of the paths of its URLs, besides the path of its main operation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Its bodies.
    pub bodies: Vec<Mark>,
    /// Its events that have no type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<Mark>,
    /// The bodies of its requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Mark>,
}

/// The marks that only the recordings of a dialect have, within its API. In patterns, each `*` stands for any text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DialectSignature {
    /// Patterns of the hosts of its URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Patterns of the paths of its URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Headers of its requests or responses, with patterns of their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The bodies of its requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Mark>,
    /// Patterns of the comments before its first event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// Its first events, and its bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Mark>,
}

words! {
    /// The recordings for which a dialect stands if nothing proves another one.
    pub enum Fallback = None {
        /// None.
        None,
        /// Those of its API.
        Api,
        /// The marks of its API, and of unknown APIs.
        Any,
    }
}

impl DialectSignature {
    /// Returns whether nothing is recognised by it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Fallback {
    /// Returns whether the dialect stands for no recordings.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The members of an object. All must be as stated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

impl Mark {
    /// Returns whether every object has it.
    pub fn fits_anything(&self) -> bool {
        self.texts.is_empty() && self.lists.is_empty() && self.has.is_empty()
    }
}

/// The names that another API gives to properties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Misnomers {
    /// The name of the other API.
    pub api: String,
    /// The properties, with their names there.
    pub names: BTreeMap<String, String>,
}

/// The APIs and formats that the suite does not check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForeignFile {
    /// The APIs. Of several that fit, the first one counts.
    #[serde(default, rename = "api")]
    pub apis: Vec<ForeignApi>,
    /// The formats of files that hold no events or responses as they were sent. Of several that fit, the first one counts.
    #[serde(default, rename = "format")]
    pub formats: Vec<ForeignFormat>,
}

/// An API that the suite does not check, but recognises.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForeignApi {
    /// Its name in messages.
    pub name: String,
    /// The ends of the paths of its URLs, the path of its main operation first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// How its events and bodies are recognised.
    #[serde(default)]
    pub signature: Signature,
}

/// A format of files that are no recordings, but are given instead of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForeignFormat {
    /// Its name in messages, in the singular.
    pub name: String,
    /// Advice about what to check instead, as a sentence without a full stop.
    pub hint: String,
    /// How its objects are recognised.
    pub signature: Signature,
}
