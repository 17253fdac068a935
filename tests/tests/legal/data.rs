//! What is enumerated, and what is excepted.

use std::collections::BTreeMap;
use std::fs;

use grammar::{Bounds, Grammar, Streams};
use regex::Regex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tests::corpus;

/// An enumeration of streams.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Enumerated {
    /// What it enumerates, in words.
    pub(crate) what: String,
    pub(crate) dialect: String,
    pub(crate) bounds: Bounds,
    /// Most events of the streams that are edited.
    pub(crate) edited: usize,
    /// Most events where there is time for more.
    pub(crate) full: usize,
}

impl Enumerated {
    /// Returns its streams of at most so many events.
    pub(crate) fn streams<'g>(&self, grammar: &'g Grammar, events: usize) -> Streams<'g> {
        Streams::new(grammar, Bounds { events, ..self.bounds.clone() })
    }

    pub(crate) fn all() -> Vec<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            enumerated: Vec<Enumerated>,
        }
        read::<File>("bounds.toml").enumerated
    }
}

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
