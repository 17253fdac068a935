//! The legal streams that have a name and a number.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::bounds::{Bounds, one};
use crate::grammar::Grammar;
use crate::streams::Streams;

/// An enumeration of legal streams. A stream is named by the enumeration and its number, which is counted from 1:
/// `responses#10482`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enumeration {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it enumerates, in words.
    #[serde(default)]
    pub what: String,
    /// The dialect of the streams.
    #[serde(default)]
    pub dialect: String,
    /// Which streams there are, and how long they are in tests.
    pub bounds: Bounds,
    /// Most events of a stream that has a number.
    pub full: usize,
    /// Most events of the streams that tests edit.
    pub edited: usize,
    /// Tests make one of so many edits.
    #[serde(default = "one")]
    pub sampled: usize,
}

impl Enumeration {
    /// Returns all enumerations.
    pub fn all() -> Vec<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            enumeration: Vec<Enumeration>,
            /// Those of each dialect without one of its own, by API.
            #[serde(default)]
            others: BTreeMap<String, Enumeration>,
        }
        let file = toml::from_str(include_str!("../enumerations.toml"));
        let File { enumeration: mut all, others } = file.unwrap_or_else(|error| panic!("{error}"));
        let named = all.clone();
        for dialect in
            spec::DIALECTS.iter().filter(|dialect| named.iter().all(|it| it.dialect != dialect.name))
        {
            all.extend(others.get(dialect.api.name).map(|other| Self {
                name: dialect.name.to_owned(),
                what: dialect.product.to_owned(),
                dialect: dialect.name.to_owned(),
                ..other.clone()
            }));
        }
        all
    }

    /// Returns its streams of at most so many events. More events change no number.
    pub fn streams<'g>(&self, grammar: &'g Grammar, events: usize) -> Streams<'g> {
        Streams::new(grammar, Bounds { events, ..self.bounds.clone() })
    }
}
