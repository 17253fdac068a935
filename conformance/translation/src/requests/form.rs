//! How a question is written as a request: `[write]` in the page of an API.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::question::Role;
use crate::template::Template;

/// The forms of an API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Form {
    pub(super) body: Template,
    pub(super) tool: Template,
    pub(super) instruction: Template,
    /// The instructions that lead the conversation are those from this one on.
    pub(super) leads_from: Option<usize>,
    /// The conversation, if it is empty.
    pub(super) nothing: Option<Template>,
    /// Names of losses: the API cannot carry a value if the flags hold.
    pub(super) losses: BTreeMap<String, String>,
    pub(super) most_stops: Option<usize>,
    pub(super) most_temperature: Option<f64>,
    pub(super) least_limit: u64,
    /// Efforts are written in words, as budgets of tokens, or both.
    pub(super) words: bool,
    pub(super) budgets: bool,
    /// The limit is required, and above the budget of reasoning.
    pub(super) needs_limit: bool,
    /// Reasoning without a seal is refused.
    pub(super) needs_seal: bool,
    /// Neighbouring turns of a speaker are one.
    pub(super) merges: bool,
    /// The member for the seal of reasoning, if it is on the part that follows.
    pub(super) seal: Option<String>,
    /// The efforts that stand for others.
    pub(super) nearest: BTreeMap<String, String>,
    /// The name of a schema that has none.
    pub(super) format_name: String,
    /// The media types of images as bytes; none stands for any.
    pub(super) media_types: Vec<String>,
    pub(super) user: Speaker,
    assistant: Speaker,
    system: Option<Speaker>,
}

/// How what one says is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Speaker {
    /// A message, unless its parts are on their own.
    pub(super) message: Template,
    /// The kinds of parts that are entries of the conversation by themselves, of those that come first, and of those that are
    /// behind the content.
    pub(super) own: Vec<String>,
    pub(super) first: Vec<String>,
    pub(super) last: Vec<String>,
    #[serde(flatten)]
    pub(super) parts: BTreeMap<String, Template>,
}

impl Form {
    /// `None` if nobody speaks in this role; the user does instead.
    pub(super) const fn speaker(&self, role: Role) -> Option<&Speaker> {
        match role {
            Role::User => Some(&self.user),
            Role::Assistant => Some(&self.assistant),
            Role::System => self.system.as_ref(),
        }
    }
}
