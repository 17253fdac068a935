//! `requirements/<version>.toml`

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::constant::words;

/// The normative sentences of one version of a specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[constant(
    /// Its coverage.
    coverage: Coverage
)]
pub struct Requirement {
    /// The version of the specification.
    #[serde(skip)]
    pub version: String,
    /// The document.
    #[serde(skip)]
    pub source: String,
    /// The URL of the document.
    #[serde(skip)]
    pub address: String,
    /// Its id, which stays the same across versions.
    pub id: String,
    /// Its heading.
    pub heading: String,
    /// The obliged party.
    pub who: Who,
    /// Its keyword.
    pub level: RequirementLevel,
    /// The version that added it, unless that is the first.
    #[constant(skip)]
    pub since: Option<String>,
    /// The requirement, in our words.
    pub statement: String,
    /// Rules that check it.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Scenarios that check it.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
    /// Why no stream shows whether it is met.
    #[constant(skip)]
    pub unobservable: Option<String>,
    /// The rule or scenario that is missing.
    #[constant(skip)]
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
#[derive(Debug, Clone, PartialEq, Eq, Constant)]
pub enum Coverage {
    /// These rules and scenarios check it.
    Covered {
        /// The rules.
        rules: Vec<String>,
        /// The scenarios.
        scenarios: Vec<String>,
    },
    /// No stream shows it, for this reason.
    Unobservable(String),
    /// This rule or scenario is missing.
    Open(String),
}

impl Requirement {
    /// Returns its coverage; `None` if it has none, or several.
    pub fn stated_coverage(&self) -> Option<Coverage> {
        Coverage::stated(&self.rules, &self.scenarios, self.unobservable.as_ref(), self.open.as_ref())
    }

    /// The cross-checks report one that is missing.
    fn coverage(&self) -> Coverage {
        self.stated_coverage().unwrap_or_else(|| Coverage::Open(String::new()))
    }
}

impl Coverage {
    /// Returns the coverage that exactly one of the entries of a sentence states.
    pub(super) fn stated(
        rules: &[String],
        scenarios: &[String],
        unobservable: Option<&String>,
        open: Option<&String>,
    ) -> Option<Self> {
        match (rules.is_empty() && scenarios.is_empty(), unobservable, open) {
            (false, None, None) => {
                Some(Self::Covered { rules: rules.to_vec(), scenarios: scenarios.to_vec() })
            }
            (true, Some(reason), None) => Some(Self::Unobservable(reason.clone())),
            (true, None, Some(plan)) => Some(Self::Open(plan.clone())),
            _ => None,
        }
    }
}
