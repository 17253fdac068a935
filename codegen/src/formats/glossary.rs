//! `glossary.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Descriptions of the properties of events and types, and names and defaults of Rust types, for all dialects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Glossary {
    /// Descriptions by property name.
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
    /// Descriptions of properties that differ in a type, by type name.
    #[serde(default)]
    pub types: BTreeMap<String, BTreeMap<String, String>>,
    /// Names of Rust types that differ from the name in the schemas, by type name.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Defaults of required properties in a new value, as JSON, by type name.
    #[serde(default)]
    pub defaults: BTreeMap<String, BTreeMap<String, String>>,
}

impl Glossary {
    /// Returns the description of a property in the type, or else the general one.
    pub fn meaning(&self, of_type: &str, property: &str) -> Option<&str> {
        self.types
            .get(of_type)
            .and_then(|own| own.get(property))
            .or_else(|| self.properties.get(property))
            .map(String::as_str)
    }
}
