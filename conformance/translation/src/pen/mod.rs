//! How the responses of each API are written: by a page for each API, whose templates have holes for what is in a response.

pub mod edits;
mod errors;
mod head;
mod page;
pub mod resource;
mod writer;

use serde_json::Value;
use spec::{Api, Dialect};

use crate::ReplyError;
use crate::template::Template;
use errors::{general, named};
use page::Page;

pub use errors::{class_of, status_of};
pub use writer::Writer;

/// The receiver of a response.
#[derive(Debug, Clone)]
pub struct Front {
    /// Its dialect.
    pub dialect: &'static Dialect,
    /// The request, as responses can repeat it.
    pub request: Value,
    /// The model, unless the upstream names one.
    pub model: String,
    /// The time, as seconds since 1970.
    pub now: u64,
}

/// The header that has the id of a request.
pub fn id_header(api: &Api) -> &'static str {
    &Page::of(api.name).id_header
}

/// Returns how ids of calls begin.
pub fn call_prefix(api: &Api) -> &'static str {
    &Page::of(api.name).call_prefix
}

/// Returns whether it writes parts of a kind that only its API has.
pub fn has_item(api: &Api, kind: &str) -> bool {
    Page::of(api.name).item.contains_key(kind)
}

/// The kind of the item with the result of another, if the API has one.
pub fn result_of(api: &Api, kind: &str) -> Option<&'static str> {
    Page::of(api.name).item.get_key_value(&format!("{kind}_output")).map(|(name, _)| name.as_str())
}

/// A value of this name on the page, with what it says of others.
pub fn aside(api: &Api, name: &str, said: &[(&'static str, Value)]) -> Value {
    Page::of(api.name).aside.get(name).map(|own| filled(own, said)).unwrap_or_default()
}

/// Returns whether an event begins a response.
pub fn has_start(api: &Api) -> bool {
    !Page::of(api.name).start.is_empty()
}

/// The error of a response that fails.
pub fn failure(api: &Api) -> ReplyError {
    Page::of(api.name).failure.clone()
}

/// The class of errors with a status, or else of those that are as bad.
pub fn class(api: &Api, status: u16) -> &'static str {
    let page = Page::of(api.name);
    let own = |status: u16| page.classes.get(&status.to_string()).map(String::as_str);
    let by_status = named(api, status).filter(|_| page.classes_by_status);
    let general = general(status);
    own(status).or(by_status).or_else(|| own(general)).unwrap_or_else(|| class_of(api, general))
}

/// The body of an error. Besides, templates name what else is said.
pub fn error_body(api: &Api, error: &ReplyError, said: &[(&'static str, Value)]) -> Value {
    let ReplyError { class, message } = error;
    let own = [
        ("class", class.as_str().into()),
        ("message", message.as_str().into()),
        ("http_status", status_of(api, class).into()),
    ];
    filled(&Page::of(api.name).error, &[said, &own].concat())
}

/// The list of models with these names.
pub fn models(api: &Api, names: &[String]) -> Value {
    let page = Page::of(api.name);
    let model = |name: &String| filled(&page.model, &[("model", name.as_str().into())]);
    let [first, last] = [names.first(), names.last()].map(|name| name.cloned().into());
    let all = names.iter().map(model).collect();
    filled(&page.models, &[("models", all), ("first", first), ("last", last)])
}

/// The answer to a request to count its tokens.
pub fn counted(api: &Api, tokens: u64) -> Value {
    filled(&Page::of(api.name).counted, &[("input", tokens.into())])
}

/// Later values replace earlier ones.
fn filled(template: &Template, said: &[(&'static str, Value)]) -> Value {
    template.filled(|name| said.iter().rfind(|(own, _)| *own == name).map(|(_, value)| value.clone()))
}
