//! What surrounds a stream or a body, for rules.

use super::bound::Bound;
use super::case::{At, Case};
use super::finding::Findings;
use super::head::Head;
use super::protocol::Protocol;
use super::session::SessionView;
use super::stream::Stream;

/// What surrounds a stream or a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) protocol: &'c Protocol,
    /// The head of the exchange.
    pub(crate) head: &'c Head,
    /// The session, on a WebSocket.
    pub(crate) session: Option<SessionView<'c>>,
}

impl<'c> Context<'c> {
    /// Returns whether the next events are those of a new response, and not the rest of an earlier one.
    pub(super) fn is_fresh(&self) -> Option<bool> {
        match self.session {
            Some(session) => session.is_fresh().then_some(true),
            None => self.head.creates,
        }
    }

    /// Calls rules, one after the other.
    #[inline]
    pub(super) fn ask<F: Copy>(
        self,
        at: At<'c>,
        rules: &[(Bound, F)],
        stream: &'c Stream,
        findings: &'c mut Findings,
        mut ask: impl FnMut(F, &mut Case<'c>),
    ) {
        let Some((first, _)) = rules.first() else { return };
        let mut case = Case::new(*first, self, at, stream, findings);
        for (bound, code) in rules {
            case.bound = *bound;
            ask(*code, &mut case);
        }
    }
}
