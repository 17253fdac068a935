//! Surroundings of a stream or a body, for rules.

use super::head::Head;
use super::protocol::Protocol;
use super::session::SessionView;

/// Surroundings of a stream or a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) protocol: &'c Protocol,
    /// The head of the exchange.
    pub(crate) head: &'c Head,
    /// The session, on a WebSocket.
    pub(crate) session: Option<SessionView<'c>>,
}

impl Context<'_> {
    /// Returns whether the next events begin a new response, and do not continue an earlier one.
    pub(super) fn is_fresh(&self) -> Option<bool> {
        match self.session {
            Some(session) => session.is_fresh().then_some(true),
            None => self.head.creates,
        }
    }
}
