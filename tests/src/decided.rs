//! What the second models of the lifecycles are compared with, as `tests/model/compared.toml` describes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;

use crate::corpus;

/// What the file says about an API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// The dialect of the first party, in which streams are checked.
    pub dialect: String,
    /// The rules about order and identity besides those that are checked by `structure`.
    pub rules: BTreeSet<String>,
    /// Goldens of which no edit is compared, with the reason.
    #[serde(default)]
    pub unedited: BTreeMap<String, String>,
    /// Wrong models that the comparison rejects: what they say, and the transitions that they allow.
    pub wrong: BTreeMap<String, Vec<String>>,
    /// The disagreements that are neither side's fault.
    #[serde(default)]
    pub decided: Vec<Decided>,
}

/// A disagreement about which the documents do not decide.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// What the documents leave open.
    pub doubt: String,
    /// The evidence.
    pub evidence: String,
    /// The reading of the suite.
    pub reading: String,
    /// The transition by which the model says that a stream breaks a level.
    pub model: String,
    /// The rules that the checker finds broken; none if it finds nothing of the level that the model finds broken.
    pub checker: Vec<String>,
    /// Not every comparison sees it.
    #[serde(default)]
    pub rare: bool,
}

impl Compared {
    /// Reads what the file says about an API.
    pub fn of(api: &str) -> Self {
        Self::all().remove(api).unwrap_or_else(|| panic!("{api} is not compared"))
    }

    /// Reads what the file says about all APIs.
    pub fn all() -> BTreeMap<String, Self> {
        let file = corpus::repository().join("tests/model/compared.toml");
        let text = fs::read_to_string(file).expect("it is there");
        toml::from_str(&text).unwrap_or_else(|error| panic!("tests/model/compared.toml: {error}"))
    }
}

impl Decided {
    /// Returns whether this is the disagreement, by what the model and the checker say, and whether the checker finds a
    /// lower level broken than the model.
    pub fn is(&self, model: &str, checker: &str, finds_less: bool) -> bool {
        let has_rule = |rule: &String| checker.split(' ').any(|said| said == rule);
        let is_meant = if self.checker.is_empty() { finds_less } else { self.checker.iter().all(has_rule) };
        is_meant && model.split("; ").any(|said| said == self.model)
    }
}
