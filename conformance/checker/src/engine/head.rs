//! The head of an exchange: what rules know of the request, and of the response beside its stream or body.

use super::markup::RequestTokens;
use super::view::Object;
use crate::Exchange;

/// The head of an exchange.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Status of the response.
    pub(crate) status: Option<u16>,
    /// Whether its headers are known. Some recorders keep none.
    pub(crate) has_headers: bool,
    /// Its content type.
    pub(crate) content_type: Option<String>,
    /// Whether the request created a new response, if that is known.
    pub(crate) creates: Option<bool>,
    /// Whether the input of the request triggers a compaction.
    pub(crate) triggers_compaction: bool,
    /// The tokens in the request, if that is known.
    pub(crate) tokens: Option<RequestTokens>,
}

impl Head {
    /// Creates the head of an exchange.
    pub(super) fn of(exchange: &Exchange<'_>) -> Self {
        let asked = exchange.request.as_ref().and_then(|request| request.body.as_deref()).map(Object::new);
        let method = exchange.request.as_ref().map(|request| &*request.method);
        let method = method.filter(|method| !method.is_empty());
        Self {
            status: exchange.status,
            has_headers: !exchange.headers.is_empty(),
            content_type: exchange.header("content-type").map(str::to_owned),
            creates: method.map(|method| method.eq_ignore_ascii_case("POST")),
            triggers_compaction: asked.as_ref().is_some_and(triggers_compaction),
            tokens: asked.as_ref().map(RequestTokens::of),
        }
    }

    /// Returns whether the response has an error status. Such a response is not a stream, even if it looks like one.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}

/// Returns whether the input of a request triggers a compaction.
pub(super) fn triggers_compaction(request: &Object<'_>) -> bool {
    let is_trigger = |item: &&str| Object::new(item).plain("type") == Some("compaction_trigger");
    request.get("input").is_some_and(|input| input.contains("compaction_trigger"))
        && request.entries("input").unwrap_or_default().iter().any(is_trigger)
}
