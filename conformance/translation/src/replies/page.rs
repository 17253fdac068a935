//! How the responses of an API are read: `spec/apis/<api>/reader.toml`.

use std::collections::BTreeMap;
use std::convert::identity;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::parts::Lane;
use crate::Stop;
use crate::pages::Pages;

/// The page of an API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Page {
    /// A part ends where another one begins.
    pub(super) is_serial: bool,
    /// The place of the model in a response.
    pub(super) model: Option<String>,
    /// The places of the indices in an event.
    pub(super) container: String,
    pub(super) index: String,
    /// The ids of a container in an event, and the event that opens it.
    pub(super) ids: Vec<String>,
    pub(super) opens: String,
    /// The steps for events by their types; those without a name are for all others.
    pub(super) on: BTreeMap<String, Vec<Step>>,
    /// The steps for a response without a stream.
    pub(super) body: Vec<Step>,
    /// The meanings of reasons, which a response can have besides its status.
    pub(super) reasons: BTreeMap<String, Stop>,
    /// Steps that others name.
    pub(super) steps: BTreeMap<String, Vec<Step>>,
}

/// A step: it reads a value. All places are JSON pointers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Step {
    /// The place of the value; with `/*` at its end, it is read from each entry of a list.
    pub(super) at: String,
    /// The types that the value may have.
    pub(super) kinds: Vec<String>,
    /// A member that is neither absent, null, false nor an empty text.
    set: Option<String>,
    /// A member that is one of these.
    unset: Option<String>,
    /// A member that is a text.
    has: Option<String>,
    /// A member that is none.
    lacks: Option<String>,
    /// Only if the container has no text of these lanes yet.
    pub(super) unsaid: Vec<Lane>,
    /// The entries of the list are numbered as this, or have the number in a member.
    pub(super) each: Option<Each>,
    pub(super) index: Option<String>,
    /// Only entries whose number in this member is 0; or the first of them.
    pub(super) nth: Option<String>,
    pub(super) is_first: bool,
    /// Goes on with these steps.
    pub(super) go: Option<String>,
    /// The kind of the part.
    pub(super) lane: Option<Lane>,
    /// A piece of its text: the first of these that is not empty.
    pub(super) text: Vec<String>,
    /// It may be JSON.
    pub(super) takes_json: bool,
    /// Its text, if there was no piece.
    pub(super) whole: Option<String>,
    /// Arguments that count if no piece follows. Without any, they are empty.
    pub(super) opening: Option<String>,
    /// Arguments with their places, and whether more follow.
    pub(super) pieces: Option<String>,
    pub(super) goes_on: Option<String>,
    pub(super) seal: Option<String>,
    /// A seal of the reasoning before the text.
    pub(super) seals: Option<String>,
    /// The id of reasoning or of a call, with the name of the tool. A call without an id gets one.
    pub(super) id: Option<String>,
    pub(super) name: Vec<String>,
    pub(super) makes_id: bool,
    pub(super) is_redacted: bool,
    /// Why the response ends, and the text before which it does.
    pub(super) stop: Option<String>,
    pub(super) before: Option<String>,
    /// Ends the response by its status, with the reason. The steps are taken if nothing of it was streamed.
    pub(super) concludes: bool,
    pub(super) reason: Option<String>,
    /// Ends the part, or else the container.
    pub(super) closes: bool,
    /// Begins the response, with its id and its model.
    pub(super) starts: bool,
    /// Has token counts.
    pub(super) counts: bool,
    /// Ends the response.
    pub(super) ends: bool,
}

/// The meaning of the number of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Each {
    Container,
    Index,
}

impl Step {
    pub(super) fn fits(&self, value: &Value) -> bool {
        let kind = || value.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_set = |place: &String| {
            value.pointer(place).is_some_and(|it| !it.is_null() && *it != Value::Bool(false) && *it != "")
        };
        let is_text = |place: &String| value.pointer(place).is_some_and(Value::is_string);
        (self.kinds.is_empty() || self.kinds.iter().any(|known| known == kind()))
            && self.set.as_ref().is_none_or(is_set)
            && !self.unset.as_ref().is_some_and(is_set)
            && self.has.as_ref().is_none_or(is_text)
            && !self.lacks.as_ref().is_some_and(is_text)
    }
}

static PAGES: LazyLock<Pages<Page>> =
    LazyLock::new(|| Pages::new(include!(concat!(env!("OUT_DIR"), "/reader.rs")), identity));

impl Page {
    /// Nothing is read from the responses of an API without a page.
    pub(super) fn of(api: &str) -> &'static Self {
        PAGES.of(api)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_name_only_steps_that_there_are() {
        for api in spec::spoken() {
            let page = Page::of(api.name);
            assert!(!page.on.is_empty() && !page.body.is_empty(), "{}", api.name);
            let all = page.on.values().chain(page.steps.values()).chain([&page.body]).flatten();
            for name in all.filter_map(|step| step.go.as_ref()) {
                assert!(page.steps.contains_key(name), "{} {name}", api.name);
            }
        }
    }
}
