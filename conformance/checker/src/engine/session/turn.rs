//! The requests of a lane, each answered by a response.

use std::collections::VecDeque;
use std::time::Duration;

use spec::Api;

use crate::Frame;
use crate::engine::head::triggers_compaction;
use crate::engine::markup::RequestTokens;
use crate::engine::view::Object;

#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) current: Option<Turn>,
    pub(crate) unanswered: VecDeque<Turn>,
    /// Id of the latest response that can be continued.
    pub(crate) latest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Turn {
    pub(crate) previous_response_id: Option<String>,
    pub(crate) triggers_compaction: bool,
    pub(crate) tokens: RequestTokens,
    /// Whether it has `store: false`.
    pub(crate) is_unstored: bool,
    pub(super) sent: Option<Duration>,
}

impl Turn {
    pub(super) fn new(asked: &Object<'_>, api: &Api, frame: &Frame<'_>) -> Self {
        let session = api.session.as_ref();
        Self {
            previous_response_id: session.and_then(|names| asked.string(names.previous)).map(Into::into),
            triggers_compaction: triggers_compaction(asked, &api.request),
            tokens: RequestTokens::of(asked, &api.request),
            is_unstored: session.is_some_and(|names| asked.get(names.store) == Some("false")),
            sent: frame.time,
        }
    }
}
