//! What is excepted.

use std::collections::BTreeMap;
use std::fs;

use regex::Regex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tests::corpus;

/// Kinds of edits that nothing finds, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Survivors {
    pub(crate) decided: String,
    pub(crate) reason: String,
    edits: Vec<String>,
}

impl Survivors {
    /// Returns those of each dialect.
    pub(crate) fn all() -> BTreeMap<String, Vec<Self>> {
        read("survivors.toml")
    }

    /// Returns the patterns of its kinds.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (&str, Regex)> {
        let pattern = |edit: &str| Regex::new(&format!("^{}$", regex::escape(edit).replace("\\*", ".*")));
        self.edits.iter().map(move |edit| (edit.as_str(), pattern(edit).expect("it is one")))
    }
}

/// The good streams that the grammar does not have, with the reasons.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    pub(crate) goldens: BTreeMap<String, String>,
    pub(crate) recordings: BTreeMap<String, String>,
}

impl Exceptions {
    pub(crate) fn read() -> Self {
        read("exceptions.toml")
    }
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let file = corpus::repository().join("tests/legal").join(name);
    let text = fs::read_to_string(&file).expect("it is there");
    toml::from_str(&text).unwrap_or_else(|error| panic!("tests/legal/{name}: {error}"))
}
