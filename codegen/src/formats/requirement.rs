//! `requirements/<version>.toml`

use serde::{Deserialize, Serialize};

use super::word::words;

/// Every normative sentence of one version of a specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequirementsFile {
    /// The specification and its version.
    pub source: String,
    /// The address at which the document can be read.
    pub address: String,
    /// The sentences, in the order they stand there.
    #[serde(rename = "requirement")]
    pub requirements: Vec<Requirement>,
}

/// One normative sentence. Exactly one thing is said of it: the rules and scenarios that see to it,
/// that it cannot be observed, or that it is still open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Its id, which it keeps from version to version.
    pub id: String,
    /// The heading it stands under.
    pub heading: String,
    /// Whose duty it is.
    pub who: Who,
    /// How binding it is.
    pub level: RequirementLevel,
    /// The version that brought it, when that is not the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// What it demands, in our words.
    pub statement: String,
    /// Rules that see to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Scenarios that see to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
    /// Why no stream can show whether it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobservable: Option<String>,
    /// Which rule or scenario is still to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
}

words! {
    /// Whose duty a requirement is.
    pub enum Who {
        /// The server's.
        Server,
        /// The client's.
        Client,
        /// Both have it.
        Both,
    }

    /// How binding a sentence is.
    pub enum RequirementLevel {
        /// It is demanded.
        Must,
        /// It is forbidden.
        MustNot,
        /// It is recommended.
        Should,
        /// It is advised against.
        ShouldNot,
        /// It is permitted.
        May,
        /// Nobody says it in so many words, but the rest makes no sense without it.
        Implied,
    }
}

/// What is done about a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage<'a> {
    /// These rules and scenarios see to it.
    Covered {
        /// The rules.
        rules: &'a [String],
        /// The scenarios.
        scenarios: &'a [String],
    },
    /// No stream can show it, for this reason.
    Unobservable(&'a str),
    /// This is still to be written.
    Open(&'a str),
}

impl Requirement {
    /// Returns what is done about it; `None` when nothing is said, or more than one thing.
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
