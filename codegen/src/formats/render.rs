//! `[render]` of `dialects/<name>/dialect.toml`

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::constant::words;

/// The members that the reference gateway leaves out of the responses of a dialect, or adds to them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Render {
    /// The types of the items that a response can have; all if absent.
    pub items: Vec<String>,
    /// The types of the annotations that a text can have; all if absent.
    pub annotations: Vec<String>,
    /// The types of the tools that a response repeats from its request; all if absent.
    pub tools: Vec<String>,
    /// Whether deltas are padded unless the request disables that.
    pub pads: bool,
    /// The members of the response.
    pub response: RenderResponse,
    /// Changes of what is rendered, applied in this order.
    #[serde(rename = "edit")]
    pub edits: Vec<RenderEdit>,
}

/// The members of the response. Those that neither the response determines nor the request sets have a default, or are
/// null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RenderResponse {
    /// All members, in order.
    pub members: Vec<String>,
    /// The members of the final response, if they differ.
    pub ended: Vec<String>,
    /// The values of members that the request does not set.
    pub defaults: BTreeMap<String, Value>,
}

/// A change of what is rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RenderEdit {
    /// The values to change.
    pub of: RenderTarget,
    /// JSON pointer to the object in it that is changed; `*` stands for all entries of a list. Without it, the whole is
    /// changed.
    #[serde(default)]
    pub at: Option<String>,
    /// The types of the objects that are changed; all if absent.
    #[serde(default)]
    pub types: Vec<String>,
    /// The types of objects that are not changed.
    #[serde(default)]
    pub except: Vec<String>,
    /// Only items and responses that begin, or only those that have ended.
    #[serde(default)]
    pub when: Option<RenderMoment>,
    /// Only objects that lack this member, or in which it is null or empty.
    #[serde(default)]
    pub lacks: Option<String>,
    /// Whether only every other seed has this change, as the dialect allows both.
    #[serde(default)]
    pub sometimes: bool,
    /// A member that is replaced by its own members.
    #[serde(default)]
    pub inline: Option<String>,
    /// Members that are copied from the closed item.
    #[serde(default)]
    pub copy: Vec<String>,
    /// Members that are added as null if they are missing.
    #[serde(default)]
    pub null: Vec<String>,
    /// Members that have these values if they are missing or null.
    #[serde(default)]
    pub default: BTreeMap<String, Value>,
    /// Members that have these values.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Members that are left out.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// The only members that are kept, in this order; `*` stands for all others.
    #[serde(default)]
    pub keep: Vec<String>,
}

words! {
    /// The target of an edit.
    pub enum RenderTarget {
        /// The data of an event.
        Event,
        /// An item, in events and in the output.
        Item,
        /// A part of an item.
        Part,
        /// The response, in events and as a body.
        Response,
    }

    /// The state of an item or a response.
    pub enum RenderMoment {
        /// It begins.
        Begun,
        /// It has ended.
        Ended,
    }
}

impl RenderEdit {
    /// Returns the names of the members that it changes.
    pub fn changed(&self) -> impl Iterator<Item = &String> {
        let lists = [&self.copy, &self.null, &self.leave_out, &self.keep];
        let named = lists.into_iter().flatten().filter(|name| *name != "*");
        named.chain(self.default.keys()).chain(self.set.keys()).chain(&self.inline)
    }
}
