//! Client messages about responses in flight (steering, injection), and the replies to them.

use std::collections::VecDeque;

use spec::Dialect;
use spec::table::{Reply, SessionShape};

use crate::engine::view::Object;

/// Maximum number of remembered entries of each kind.
const MAX_ASIDES: usize = 1000;

/// Steering and injected input of a session.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// Targets of steering messages without a reply.
    pub(crate) steered: VecDeque<Box<str>>,
    /// Targets of injected input without a reply.
    pub(crate) injected: VecDeque<Box<str>>,
    pub(crate) taken: Vec<Steer>,
    /// Ended responses, each with its last phase.
    pub(crate) ended: VecDeque<(Box<str>, Option<&'static str>)>,
}

/// Steering input that the server has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steer {
    pub(crate) id: Box<str>,
    pub(crate) response: Box<str>,
    /// Whether the server waits for more input.
    pub(crate) is_pending: bool,
    /// Whether a response followed, or the input failed.
    pub(crate) is_over: bool,
}

#[derive(Debug, Default)]
pub(crate) struct About {
    /// The id of the steering input.
    pub(crate) id: Option<Box<str>>,
    pub(crate) response: Option<Box<str>>,
}

/// A kind of client message about a response in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InFlightMessage {
    /// Steers the response by new input.
    Steer,
    /// Adds input to the response.
    Inject,
}

impl InFlightMessage {
    /// `None` if it is another kind of message.
    fn of_message(dialect: &Dialect, kind: &str) -> Option<Self> {
        let is_this = |aside: Option<spec::table::Aside>| aside.is_some_and(|aside| aside.message == kind);
        if is_this(dialect.framing.steer) {
            Some(Self::Steer)
        } else {
            is_this(dialect.framing.inject).then_some(Self::Inject)
        }
    }

    /// Such an event is not part of a response.
    pub(crate) fn of_reply(dialect: &Dialect, event: &str) -> Option<(Self, Reply)> {
        let reply = |aside: Option<spec::table::Aside>| aside?.reply(event);
        let steer = reply(dialect.framing.steer).map(|reply| (Self::Steer, reply));
        steer.or_else(|| reply(dialect.framing.inject).map(|reply| (Self::Inject, reply)))
    }
}

impl About {
    pub(crate) fn of(data: &str, names: &SessionShape) -> Self {
        let event = Object::new(data);
        let steer = event.value(names.steer).map(Object::new);
        let of_steer = |name: &str| steer.as_ref()?.string(name).map(Into::into);
        let own = |name: &str| event.string(name).map(Into::into);
        Self { id: of_steer("id"), response: of_steer(names.previous).or_else(|| own(names.target)) }
    }
}

impl Asides {
    pub(super) fn sent(&mut self, dialect: &Dialect, kind: &str, message: &Object<'_>) {
        let Some(names) = &dialect.api.session else { return };
        let (list, name) = match InFlightMessage::of_message(dialect, kind) {
            Some(InFlightMessage::Steer) => (&mut self.steered, names.previous),
            Some(InFlightMessage::Inject) => (&mut self.injected, names.target),
            None => return,
        };
        if list.len() < MAX_ASIDES {
            list.push_back(message.string(name).unwrap_or_default().into());
        }
    }

    pub(in crate::engine) fn came(
        &mut self,
        (aside, reply): (InFlightMessage, Reply),
        data: &str,
        dialect: &Dialect,
    ) {
        let Some(names) = &dialect.api.session else { return };
        let About { id, response } = About::of(data, names);
        let (id, response) = (id.unwrap_or_default(), response.unwrap_or_default());
        let list = match aside {
            InFlightMessage::Steer => &mut self.steered,
            InFlightMessage::Inject => &mut self.injected,
        };
        let was_taken = self.taken.iter().any(|steer| steer.id == id);
        if !was_taken && let Some(at) = list.iter().position(|asked| *asked == response) {
            list.remove(at);
        }
        if aside == InFlightMessage::Inject {
            return;
        }
        match reply {
            Reply::Accepted if self.taken.len() < MAX_ASIDES => {
                self.taken.push(Steer { id, response, is_pending: false, is_over: false });
            }
            Reply::Accepted => {}
            Reply::Pending => self.of_id(&id, |steer| steer.is_pending = true),
            Reply::Failed if was_taken => self.of_id(&id, |steer| steer.is_over = true),
            Reply::Failed => self.follow(&response),
        }
    }

    fn of_id(&mut self, id: &str, change: impl FnOnce(&mut Steer)) {
        if let Some(steer) = self.taken.iter_mut().find(|steer| *steer.id == *id) {
            change(steer);
        }
    }

    /// Accepted input that no event of the response has followed yet.
    pub(crate) fn turning(&self, response: &str) -> Option<&Steer> {
        self.taken.iter().find(|steer| *steer.response == *response && !steer.is_over)
    }

    /// The last phase of an ended response.
    #[expect(clippy::option_option, reason = "one is whether it has ended, and the other why")]
    pub(crate) fn end_of(&self, response: &str) -> Option<Option<&'static str>> {
        self.ended.iter().find(|(ended, _)| **ended == *response).map(|(_, phase)| *phase)
    }

    pub(super) fn follow(&mut self, response: &str) {
        for steer in self.taken.iter_mut().filter(|steer| *steer.response == *response) {
            steer.is_over = true;
        }
    }

    pub(super) fn end(&mut self, response: &str, phase: Option<&'static str>) {
        if self.ended.len() >= MAX_ASIDES {
            self.ended.pop_front();
        }
        self.ended.push_back((response.into(), phase));
    }
}
