//! Small APIs for tests: properties of scopes that no stream of `openai` has.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Dialect;
use crate::formats::{ApiFile, DialectFile};

/// An API with its only dialect. Its scopes are like scopes of other APIs, whose rules judge it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiny {
    /// The API.
    pub api: ApiFile,
    dialect: DialectFile,
    /// The dialects whose rules apply to it.
    rules_of: Vec<String>,
    /// The files of its events, by type.
    events: BTreeMap<String, Value>,
}

/// The small APIs by name, as TOML.
const ALL: [(&str, &str); 3] = [
    ("songs", include_str!("tiny/songs.toml")),
    ("drips", include_str!("tiny/drips.toml")),
    ("stalls", include_str!("tiny/stalls.toml")),
];

impl Tiny {
    /// Returns the small APIs by name.
    ///
    /// # Errors
    ///
    /// Fails if a file is not valid.
    pub fn all() -> Result<Vec<(&'static str, Self)>, String> {
        let read =
            |(name, text)| Ok((name, toml::from_str(text).map_err(|error| format!("{name}: {error}"))?));
        ALL.into_iter().map(read).collect()
    }

    /// Returns the dialect, which has the name of the API.
    ///
    /// # Errors
    ///
    /// Fails if an event is not valid.
    pub fn dialect(&self, name: &str) -> Result<Dialect, String> {
        let file = DialectFile { api: name.to_owned(), ..self.dialect.clone() };
        let mut dialect = Dialect {
            name: name.to_owned(),
            own: file.clone(),
            file,
            lineage: self.rules_of.clone(),
            events: BTreeMap::new(),
            types: BTreeMap::new(),
            type_files: BTreeMap::new(),
            errata: Vec::new(),
            idle_patches: Vec::new(),
            faults: Vec::new(),
        };
        for (event, file) in &self.events {
            let mut file = file.clone();
            file["$id"] = event.as_str().into();
            file["type"] = "object".into();
            file["properties"]["type"]["const"] = event.as_str().into();
            dialect.take(&format!("events/{event}.json"), file).map_err(|fault| fault.to_string())?;
        }
        Ok(dialect)
    }
}
