//! The head of an exchange: what rules know of the request, and of the response beside its stream or body.

use spec::table::{RequestShape, Trigger};

use super::asked::Asked;
use super::markup::RequestTokens;
use super::view::Object;
use crate::Exchange;

#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) status: Option<u16>,
    /// Whether its headers are known. Some recorders keep none.
    pub(crate) has_headers: bool,
    pub(crate) content_type: Option<String>,
    /// Whether the request created a new response, if that is known.
    pub(crate) creates: Option<bool>,
    pub(crate) triggers_compaction: bool,
    pub(crate) tokens: Option<RequestTokens>,
    pub(crate) asked: Option<Asked>,
    pub(crate) asks_stream: Option<bool>,
}

impl Head {
    pub(super) fn of(exchange: &Exchange<'_>, request: &'static RequestShape) -> Self {
        let asked = exchange.request.as_ref().and_then(|asked| asked.body.as_deref()).map(Object::new);
        let method = exchange.request.as_ref().map(|request| &*request.method);
        let method = method.filter(|method| !method.is_empty());
        Self {
            status: exchange.status,
            has_headers: !exchange.headers.is_empty(),
            content_type: exchange.header("content-type").map(str::to_owned),
            creates: method.map(|method| method.eq_ignore_ascii_case("POST")),
            triggers_compaction: asked.as_ref().is_some_and(|asked| triggers_compaction(asked, request)),
            tokens: asked.as_ref().map(|asked| RequestTokens::of(asked, request)),
            asked: asked.as_ref().and_then(|asked| Asked::of(asked, request)),
            asks_stream: asked.as_ref().and_then(|asked| asks_stream(asked, request)),
        }
    }

    /// A response with an error status is not a stream, even if it looks like one.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}

fn asks_stream(asked: &Object<'_>, request: &RequestShape) -> Option<bool> {
    asked.value(request.input)?;
    Some(asked.get("stream") == Some("true"))
}

pub(super) fn triggers_compaction(asked: &Object<'_>, request: &RequestShape) -> bool {
    let Some(Trigger { list, entry }) = request.compaction else { return false };
    let is_trigger = |item: &&str| Object::new(item).plain("type") == Some(entry);
    asked.get(list).is_some_and(|entries| entries.contains(entry))
        && asked.entries(list).unwrap_or_default().iter().any(is_trigger)
}
