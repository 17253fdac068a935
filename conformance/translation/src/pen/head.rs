//! Facts about a response that all of its events can name.

use crate::{Delta, PartKind, ReplyError, Stop, Stopped, Usage};

use super::Front;

#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    /// A part that ids of the response and its items share.
    pub(super) tag: String,
    pub(super) model: String,
    pub(super) usage: Option<Usage>,
    pub(super) stopped: Stopped,
    pub(super) has_calls: bool,
    pub(super) has_refusal: bool,
    pub(super) error: Option<ReplyError>,
}

impl Head {
    pub(super) fn note(&mut self, front: &Front, delta: &Delta) {
        match delta {
            Delta::Started { id, model } => {
                let id = id.as_deref().unwrap_or("1");
                let tag = id.rsplit_once('_').or_else(|| id.split_once('-')).map_or(id, |(_, tag)| tag);
                tag.clone_into(&mut self.tag);
                self.model = model.clone().unwrap_or_else(|| front.model.clone());
            }
            Delta::Opened { kind, .. } => {
                self.has_calls |= matches!(kind, PartKind::Call { .. });
                self.has_refusal |= *kind == PartKind::Refusal;
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Stopped(stopped) => self.stopped = stopped.clone(),
            _ => {}
        }
    }

    /// The content shows the reason.
    pub(super) const fn stop(&self) -> Stop {
        match self.stopped.stop {
            _ if self.error.is_some() => Stop::Failed,
            Some(Stop::Ended | Stop::Calls) | None if self.has_calls => Stop::Calls,
            Some(Stop::Ended) | None if self.has_refusal => Stop::Refused,
            Some(Stop::Calls) | None => Stop::Ended,
            Some(stop) => stop,
        }
    }

    pub(super) const fn is_cut(&self) -> bool {
        matches!(self.stop(), Stop::Cut | Stop::Filtered)
    }
}
