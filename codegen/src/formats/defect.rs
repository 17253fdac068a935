//! `defects.toml`

use serde::Deserialize;

use super::client_case::{About, Channel, ClientCase, Ending, Expect};
use super::page::Request;
use super::rule::Rule;
use super::violation::Edits;

/// Streams with one defect each.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefectsFile {
    /// The defects.
    #[serde(default, rename = "defect")]
    pub defects: Vec<Defect>,
}

/// A defect. It has exactly one of `rules`, `legal`, `unseen` and `gap`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Defect {
    /// Its name.
    pub name: String,
    /// The change of the stream.
    pub what: String,
    /// The edited golden: `<dialect>/<name>`.
    pub golden: String,
    /// The edits, one a line, as in the `violation` block of a rule page; none for an unchanged stream.
    #[serde(default)]
    pub edits: Edits,
    /// The defect that is alike in all else, and breaks nothing: only a client that handles it is broken by this one. If
    /// absent, that is the golden.
    pub control: Option<String>,
    /// The rules that catch it, at level must or should; no others do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Why it is allowed.
    pub legal: Option<String>,
    /// Why no rule can catch it in a stream.
    pub unseen: Option<String>,
    /// The rule that is missing.
    pub gap: Option<String>,
    /// The expected behaviour of a client; if absent, to survive allowed streams, and to survive or report others.
    pub expect: Option<Expect>,
    /// The reason for the expectation.
    pub because: Option<String>,
    /// The authority for the expectation, if no rule is one: a document and its heading.
    pub authority: Option<String>,
    /// The parts that a client must return for the case to count; if absent, the texts, refusals, reasoning and calls
    /// of the response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// Number of bytes sent to a client at once; whole events if absent.
    pub chunk: Option<u32>,
    /// Its API.
    #[serde(skip)]
    pub api: String,
}

/// The verdict of the suite on a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefectVerdict<'a> {
    /// These rules catch it.
    Caught(&'a [String]),
    /// It is allowed.
    Legal(&'a str),
    /// No rule can catch it.
    Unseen(&'a str),
    /// No rule catches it yet.
    Gap(&'a str),
}

impl Defect {
    /// Returns the name of its case in `measured.toml`.
    pub fn case(&self) -> String {
        format!("defect/{}", self.name)
    }

    /// Returns its verdict; `None` if it has none, or several.
    pub fn verdict(&self) -> Option<DefectVerdict<'_>> {
        match (self.rules.as_slice(), self.legal.as_deref(), self.unseen.as_deref(), self.gap.as_deref()) {
            ([], Some(why), None, None) => Some(DefectVerdict::Legal(why)),
            ([], None, Some(why), None) => Some(DefectVerdict::Unseen(why)),
            ([], None, None, Some(plan)) => Some(DefectVerdict::Gap(plan)),
            (rules @ [_, ..], None, None, None) => Some(DefectVerdict::Caught(rules)),
            _ => None,
        }
    }

    /// Returns the expected behaviour of a client.
    pub fn expected(&self) -> Expect {
        let usual = match self.verdict() {
            Some(DefectVerdict::Legal(_) | DefectVerdict::Unseen(_)) => Expect::MustSurvive,
            _ => Expect::Either,
        };
        self.expect.unwrap_or(usual)
    }

    /// Returns the case for clients, given the first rule that catches the defect.
    pub fn client_case(&self, rule: Option<&Rule>) -> ClientCase {
        let reason = match (&self.because, self.verdict()) {
            (Some(because), _) => because.clone(),
            (None, Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why))) => why.to_owned(),
            (None, _) => {
                let rule = rule.map_or_else(String::new, |rule| format!(" `{}`", rule.id));
                format!(
                    "The stream breaks the rule{rule}. A client may reject it, but must not return other content."
                )
            }
        };
        let citation = rule.and_then(|rule| rule.in_api(&self.api)).map(|own| &own.citation);
        let cited = citation.map(|it| format!("{}, {}", it.source, it.heading));
        ClientCase {
            id: self.case(),
            api: Some(self.api.clone()),
            title: self.what.clone(),
            reason,
            expect: self.expected(),
            authority: self.authority.clone().or(cited).unwrap_or_default(),
            golden: Some(self.golden.clone()),
            request: Request::default(),
            prompt: String::new(),
            edits: self.edits.clone(),
            control: self.control.as_ref().map(|name| format!("defect/{name}")),
            transports: vec![Channel::Sse, Channel::Websocket],
            chunk: self.chunk,
            pause_ms: None,
            end: Ending::Whole,
            end_after: None,
            cancel_after: None,
            fill: None,
            about: self.about.clone(),
            steps: Vec::new(),
            retries: None,
        }
    }
}
