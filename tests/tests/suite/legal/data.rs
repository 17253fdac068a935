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
    /// The dialects that it is about, if they are several.
    #[serde(default)]
    dialects: Vec<String>,
}

impl Survivors {
    /// Returns those of a dialect, and those of another one.
    pub(crate) fn of(dialect: &str, other: &str) -> [Vec<Self>; 2] {
        let mut all: BTreeMap<String, Vec<Self>> = read("survivors.toml");
        let mut own = all.remove(dialect).unwrap_or_default();
        let others = all.remove("others").unwrap_or_default();
        own.extend(others.into_iter().filter(|of| of.dialects.iter().any(|name| name == dialect)));
        [own, all.remove(other).unwrap_or_default()]
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
