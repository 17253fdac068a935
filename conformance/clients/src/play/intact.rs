//! Baseline replies to unmodified streams: a part counts as lost only if the baseline has it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::child::Ended;
use crate::cases::case::PlayedCase;
use crate::protocol::Reply;

/// The replies to intact streams, by the name of the case.
pub(crate) struct Intact<'d>(HashMap<&'d str, &'d Reply>);

impl<'d> Intact<'d> {
    pub(crate) fn new(cases: &'d [PlayedCase], ended: &[Option<&'d Ended>]) -> Self {
        let controls: HashSet<&str> = cases.iter().filter_map(|case| case.control.as_deref()).collect();
        let replies = cases.iter().zip(ended).filter(|(case, _)| controls.contains(case.name.as_str()));
        Self(replies.filter_map(|(case, ended)| Some((&*case.name, (*ended)?.reply()?))).collect())
    }

    /// A part that the client returns only for the intact stream gets an empty value.
    pub(crate) fn with_losses<'e>(&self, case: &PlayedCase, ended: &'e Ended) -> Cow<'e, Ended> {
        let control = case.control.as_deref().and_then(|control| self.0.get(control));
        match (control, ended.reply()) {
            (Some(intact), Some(reply)) => Cow::Owned(Ended::Replied(Box::new(reply.with_losses(intact)))),
            _ => Cow::Borrowed(ended),
        }
    }
}
