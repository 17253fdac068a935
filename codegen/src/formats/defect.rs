//! `defects.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::client_case::Expect;

/// What real clients do with streams that have one defect each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefectsFile {
    /// The clients that were tried, or that reports tell of.
    #[serde(default, rename = "client")]
    pub clients: Vec<Client>,
    /// The defects.
    #[serde(default, rename = "defect")]
    pub defects: Vec<Defect>,
}

/// A client that something is known of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// What rule pages call it.
    pub name: String,
    /// The dialect that it is written for: it knows the events, types and fields of that one.
    pub dialect: String,
    /// The version that was tested, and how it was called; `None` if it is known from reports only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One defect. Exactly one thing is said of it: the rules that catch it, that it is none, that no
/// stream can show it, or that no rule catches it yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Defect {
    /// Its name.
    pub name: String,
    /// What is done to the stream.
    pub what: String,
    /// The good stream that is edited: `<dialect>/<name>`.
    pub golden: String,
    /// The edits, one a line, as in the `violation` block of a rule page; none for a stream that is as
    /// good as it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub edits: String,
    /// The rules that catch it, at level must or should; no other does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// By rule, the only values that break these clients: JSON pointers into an event with `*` for an index,
    /// the event as a whole when empty. Without, all that breaks the rule does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, Vec<String>>,
    /// Why it is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<String>,
    /// Why no stream can show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// Which rule is still to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
    /// What a client has to do with the stream; when absent, survive what is allowed, and survive or report the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// Why it has to do that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// What makes that binding, where no rule does: a document and its heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// Bytes that are sent to a client at once; whole events, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
    /// Clients that give up with an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exception: Vec<String>,
    /// Clients that give a wrong or empty answer without an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
    /// Clients that pass over it where an error would be right: a failure, or an end that never came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<String>,
}

/// What the suite says of a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefectVerdict<'a> {
    /// These rules catch it.
    Caught(&'a [String]),
    /// It is allowed.
    Legal(&'a str),
    /// No stream can show it.
    Unseen(&'a str),
    /// No rule catches it yet.
    Gap(&'a str),
}

impl Defect {
    /// What the suite says of it; `None` when nothing is said, or more than one thing.
    pub fn verdict(&self) -> Option<DefectVerdict<'_>> {
        match (self.rules.as_slice(), self.legal.as_deref(), self.unseen.as_deref(), self.gap.as_deref()) {
            ([], Some(why), None, None) => Some(DefectVerdict::Legal(why)),
            ([], None, Some(why), None) => Some(DefectVerdict::Unseen(why)),
            ([], None, None, Some(plan)) => Some(DefectVerdict::Gap(plan)),
            (rules @ [_, ..], None, None, None) => Some(DefectVerdict::Caught(rules)),
            _ => None,
        }
    }

    /// What a client has to do with the stream.
    pub fn expected(&self) -> Expect {
        let usual = match self.verdict() {
            Some(DefectVerdict::Legal(_) | DefectVerdict::Unseen(_)) => Expect::MustSurvive,
            _ => Expect::Either,
        };
        self.expect.unwrap_or(usual)
    }

    /// Clients that it breaks, each with how it fails.
    pub fn broken_clients(&self) -> impl Iterator<Item = (&str, &'static str)> {
        [("exception", &self.exception), ("wrong answer", &self.wrong), ("silent", &self.silent)]
            .into_iter()
            .flat_map(|(failure, clients)| clients.iter().map(move |client| (client.as_str(), failure)))
    }
}
