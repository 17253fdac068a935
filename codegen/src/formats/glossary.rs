//! `glossary.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the properties of events and types mean, and how their types are named and made, once for all dialects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Glossary {
    /// Property name to its meaning wherever it occurs.
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
    /// Type name to the meaning of properties that mean something special in it.
    #[serde(default)]
    pub types: BTreeMap<String, BTreeMap<String, String>>,
    /// Type name to the name of its Rust type, where that of the schema says little to users.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Type name to the values that required properties have in a new value, as JSON, unless users set them.
    #[serde(default)]
    pub defaults: BTreeMap<String, BTreeMap<String, String>>,
}

impl Glossary {
    /// The meaning of a property, in that type first.
    pub fn meaning(&self, of_type: &str, property: &str) -> Option<&str> {
        self.types
            .get(of_type)
            .and_then(|own| own.get(property))
            .or_else(|| self.properties.get(property))
            .map(String::as_str)
    }
}
