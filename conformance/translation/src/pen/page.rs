//! How the responses of an API are written: `spec/apis/<api>/pen.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::pages::Pages;
use crate::template::{Template, expand};
use crate::{PartKind, ReplyError, Stop};

/// The page of an API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    #[serde(default)]
    pub(super) parts: Parts,
    /// A response that ends its turn has a text, if need be an empty one.
    #[serde(default)]
    pub(super) needs_text: bool,
    /// Members of each event, behind its own.
    #[serde(default)]
    pub(super) every: Template,
    pub(super) start: Vec<Template>,
    pub(super) end: Vec<Template>,
    /// The events of an error in a stream.
    pub(super) fail: Vec<Template>,
    /// A sign of life.
    #[serde(default)]
    pub(super) ping: Vec<Template>,
    /// A response without a stream.
    pub(super) body: Template,
    /// The body of an error.
    pub(super) error: Template,
    /// A model, and the list of models.
    pub(super) model: Template,
    pub(super) models: Template,
    /// The number of tokens in a request, if the API counts them apart from a response.
    #[serde(default)]
    pub(super) counted: Template,
    /// The header that has the id of a request.
    pub(super) id_header: String,
    /// The beginning of ids of calls.
    pub(super) call_prefix: String,
    /// Whether the status of an error names its class.
    #[serde(default)]
    pub(super) classes_by_status: bool,
    /// Other classes of errors, by their status.
    #[serde(default)]
    pub(super) classes: BTreeMap<String, String>,
    /// The error of a response that fails.
    pub(super) failure: ReplyError,
    /// Values that the gateway puts into others.
    #[serde(default)]
    pub(super) aside: BTreeMap<String, Template>,
    /// Templates that others name.
    #[serde(default)]
    fragment: BTreeMap<String, Template>,
    /// The words for classes of errors where these differ; the others have the word for an empty class.
    #[serde(default)]
    pub(super) codes: BTreeMap<String, String>,
    /// The first that fits counts.
    pub(super) stop: Vec<Words>,
    #[serde(default)]
    pub(super) part: BTreeMap<String, PartPage>,
    /// Parts as only this API has them.
    #[serde(default)]
    pub(super) item: BTreeMap<String, PartPage>,
    /// The response before it runs, and while it does, apart from events.
    #[serde(default)]
    pub(super) pending: Vec<Template>,
}

/// When parts begin and end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Parts {
    /// Each for itself.
    #[default]
    Together,
    /// A part begins only after the one before it has ended.
    OneByOne,
    /// A part ends with the next event, as the end of the response can show that it is incomplete.
    EndLate,
}

/// The words of a response for its end.
#[derive(Debug, Deserialize)]
pub(super) struct Words {
    of: Vec<Stop>,
    /// It has to hold.
    pub(super) when: Option<String>,
    #[serde(flatten)]
    pub(super) says: BTreeMap<String, Value>,
}

/// How the parts of a kind are written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PartPage {
    /// Its id.
    pub(super) id: String,
    /// It begins with its first content.
    pub(super) opens_with_content: bool,
    /// The next part carries its seal, if that takes one.
    pub(super) hands_on_seal: bool,
    pub(super) takes_seal: bool,
    pub(super) open: Vec<Template>,
    /// The events in front of its first text.
    pub(super) first: Vec<Template>,
    /// The events of a piece of its text.
    pub(super) delta: Vec<Template>,
    /// The events of pieces of other kinds.
    pub(super) step: BTreeMap<String, Vec<Template>>,
    pub(super) sealed: Vec<Template>,
    /// The events that end its text, if that has begun.
    pub(super) done: Vec<Template>,
    pub(super) close: Vec<Template>,
    /// As it is in the whole response.
    pub(super) whole: Template,
    /// Its text, if nothing else is.
    pub(super) empty: Option<String>,
}

static PAGES: LazyLock<Pages<Page>> =
    LazyLock::new(|| Pages::new(include!(concat!(env!("OUT_DIR"), "/pen.rs")), Page::expanded));

impl Page {
    /// The responses of an API without a page are empty.
    pub(super) fn of(api: &str) -> &'static Self {
        PAGES.of(api)
    }

    fn expanded(mut self) -> Self {
        let fragments =
            std::mem::take(&mut self.fragment).into_iter().map(|(name, Template(own))| (name, own)).collect();
        for Template(template) in self.templates() {
            expand(template, &fragments);
        }
        self
    }

    fn templates(&mut self) -> impl Iterator<Item = &mut Template> {
        let Self { every, start, end, fail, ping, body, error, model, models, part, item, pending, .. } =
            self;
        let of_parts = part.values_mut().chain(item.values_mut()).flat_map(|part| {
            let PartPage { open, first, delta, step, sealed, done, close, whole, .. } = part;
            let steps = step.values_mut().flatten();
            [open, first, delta, sealed, done, close].into_iter().flatten().chain([whole]).chain(steps)
        });
        let events = [start, end, fail, ping, pending].into_iter().flatten();
        events.chain([every, body, error, model, models]).chain(of_parts)
    }

    /// Without an own kind, a refusal is a text, and what is redacted is reasoning.
    pub(super) fn of_part(&self, kind: &PartKind) -> Option<&PartPage> {
        let names: &[&str] = match kind {
            PartKind::Text => &["text"],
            PartKind::Refusal => &["refusal", "text"],
            PartKind::Reasoning { is_redacted: true, .. } => &["redacted", "reasoning"],
            PartKind::Reasoning { .. } => &["reasoning"],
            PartKind::Call { .. } => &["call"],
            PartKind::Item { kind, .. } => return self.item.get(*kind),
        };
        names.iter().find_map(|name| self.part.get(*name))
    }
}

impl Words {
    pub(super) fn are_of(&self, stop: Stop) -> bool {
        self.of.contains(&stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_name_only_fragments_that_there_are() {
        let pages: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pen.rs"));
        for (api, text) in pages {
            let mut page = toml::from_str::<Page>(text).unwrap().expanded();
            for Template(template) in page.templates() {
                let text = template.to_string().replace("\"@begun\"", "").replace("\"@ended\"", "");
                assert!(!text.contains("\"@") && !text.contains("\"{it}\""), "{api}: {template}");
            }
        }
    }

    #[test]
    fn each_spoken_api_has_a_page() {
        for api in spec::spoken() {
            let page = Page::of(api.name);
            assert!(!page.part.is_empty() && !page.end.is_empty(), "{}", api.name);
            for stop in [
                Stop::Ended,
                Stop::Sequence,
                Stop::Calls,
                Stop::Cut,
                Stop::Filtered,
                Stop::Refused,
                Stop::Paused,
                Stop::Failed,
            ] {
                assert!(
                    page.stop.iter().any(|words| words.are_of(stop) && words.when.is_none()),
                    "{} {stop:?}",
                    api.name
                );
            }
        }
    }
}
