//! `defects.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::client_case::{About, Expect};

/// Streams with one defect each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefectsFile {
    /// The defects.
    #[serde(default, rename = "defect")]
    pub defects: Vec<Defect>,
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
    /// What a client has to return for the case to count; when absent, what the answer has of text, refusals, reasoning
    /// and calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// Bytes that are sent to a client at once; whole events, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
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
    /// The name of its case, as `measured.toml` has it.
    pub fn case(&self) -> String {
        format!("defect/{}", self.name)
    }

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
}
