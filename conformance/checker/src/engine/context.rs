//! Surroundings of a stream or a body, for rules.

use super::head::Head;
use super::protocol::Protocol;
use super::session::SessionView;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) protocol: &'c Protocol,
    pub(crate) head: &'c Head,
    /// Only on a WebSocket.
    pub(crate) session: Option<SessionView<'c>>,
}

impl Context<'_> {
    /// False if the next events continue an earlier response.
    pub(super) fn is_fresh(&self) -> Option<bool> {
        match self.session {
            Some(session) => session.is_fresh().then_some(true),
            None => self.head.creates,
        }
    }
}
