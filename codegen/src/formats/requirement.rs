//! `requirements/<version>.toml`

use serde::{Deserialize, Serialize};

use super::word::words;

/// The normative sentences of one version of a specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequirementsFile {
    /// The specification and its version.
    pub source: String,
    /// The URL of the document.
    pub address: String,
    /// The sentences, in the order of the document.
    #[serde(rename = "requirement")]
    pub requirements: Vec<Requirement>,
}

/// A normative sentence. It has exactly one of `rules` (with `scenarios`), `unobservable` and `open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Its id, which stays the same across versions.
    pub id: String,
    /// Its heading.
    pub heading: String,
    /// The obliged party.
    pub who: Who,
    /// Its keyword.
    pub level: RequirementLevel,
    /// The version that added it, unless that is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The requirement, in our words.
    pub statement: String,
    /// Rules that check it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Scenarios that check it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
    /// Why no stream shows whether it is met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobservable: Option<String>,
    /// The rule or scenario that is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
}

words! {
    /// The party that a requirement obliges.
    pub enum Who {
        /// The server.
        Server,
        /// The client.
        Client,
        /// Both.
        Both,
    }

    /// The keyword of a normative sentence.
    pub enum RequirementLevel {
        /// Required.
        Must,
        /// Forbidden.
        MustNot,
        /// Recommended.
        Should,
        /// Not recommended.
        ShouldNot,
        /// Permitted.
        May,
        /// Not stated, but implied by the rest.
        Implied,
    }
}

/// The coverage of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage<'a> {
    /// These rules and scenarios check it.
    Covered {
        /// The rules.
        rules: &'a [String],
        /// The scenarios.
        scenarios: &'a [String],
    },
    /// No stream shows it, for this reason.
    Unobservable(&'a str),
    /// This rule or scenario is missing.
    Open(&'a str),
}

impl Requirement {
    /// Returns its coverage; `None` if it has none, or several.
    pub fn coverage(&self) -> Option<Coverage<'_>> {
        coverage(&self.rules, &self.scenarios, self.unobservable.as_deref(), self.open.as_deref())
    }
}

pub(super) fn coverage<'a>(
    rules: &'a [String],
    scenarios: &'a [String],
    unobservable: Option<&'a str>,
    open: Option<&'a str>,
) -> Option<Coverage<'a>> {
    match (rules.is_empty() && scenarios.is_empty(), unobservable, open) {
        (false, None, None) => Some(Coverage::Covered { rules, scenarios }),
        (true, Some(reason), None) => Some(Coverage::Unobservable(reason)),
        (true, None, Some(plan)) => Some(Coverage::Open(plan)),
        _ => None,
    }
}
