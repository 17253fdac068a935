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
    /// The set of streams, in words.
    #[serde(default)]
    pub what: String,
    /// The dialect of the streams.
    #[serde(default)]
    pub dialect: String,
    /// The dialects that it is repeated for, with their names, if it has none.
    #[serde(default)]
    dialects: Vec<String>,
    /// Which streams there are, and how long they are in tests.
    pub bounds: Bounds,
    /// Most events of a stream that has a number.
    pub full: usize,
    /// Number of streams that have a number.
    #[serde(default)]
    pub count: usize,
    /// The same for each of several dialects.
    #[serde(default)]
    counts: BTreeMap<String, usize>,
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
        }
        let file = toml::from_str(include_str!("../enumerations.toml"));
        let File { enumeration } = file.unwrap_or_else(|error| panic!("enumerations.toml: {error}"));
        let (of_several, mut all): (Vec<_>, Vec<_>) =
            enumeration.into_iter().partition(|of| of.name.is_empty());
        for of in of_several {
            let dialects = of.dialects.iter().filter_map(|name| spec::dialect(name));
            all.extend(dialects.map(|dialect| Self {
                name: dialect.name.to_owned(),
                what: dialect.product.to_owned(),
                dialect: dialect.name.to_owned(),
                count: of.counts.get(dialect.name).copied().unwrap_or_default(),
                ..of.clone()
            }));
        }
        all
    }

    /// Returns its streams of at most so many events. More events change no number.
    pub fn streams<'g>(&self, grammar: &'g Grammar, events: usize) -> Streams<'g> {
        Streams::new(grammar, Bounds { events, ..self.bounds.clone() })
    }
}
