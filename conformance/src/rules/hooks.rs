//! When rules are asked.

use spec::table::Scope;

use super::{Case, Ending, Snapshot};
use crate::capture::Frame;
use crate::engine::{Bound, Node, Object};

/// When a rule is asked, and what is called then.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Native {
    /// A frame with data came, whatever is in it; the stream is as it was before.
    Frame(fn(&mut Case<'_>)),
    /// A frame came that is not what the dialect knows: no JSON, of no known type, or not as its schema
    /// says.
    Faulty(fn(&mut Case<'_>)),
    /// The marker `[DONE]` came, or a frame after it.
    Marker(fn(&mut Case<'_>)),
    /// An event came that is a JSON object; the stream is as it was before.
    Event(fn(&mut Case<'_>)),
    /// An event came whose sequence number is not the next one.
    Sequence(fn(&mut Case<'_>)),
    /// One of the first events came.
    Beginning(fn(&mut Case<'_>)),
    /// An event came on a WebSocket.
    Socket(fn(&mut Case<'_>)),
    /// An event came after an error.
    AfterError(fn(&mut Case<'_>)),
    /// An event came that has the response, as it was at first or otherwise.
    AnySnapshot(fn(&mut Case<'_>, &Snapshot<'_>)),
    /// An event came that has the response, and not as it was at first.
    Snapshot(fn(&mut Case<'_>, &Snapshot<'_>)),
    /// Something of a scope was opened by a value.
    Opened(Scope, fn(&mut Case<'_>, &Node, &Object<'_>)),
    /// Something of a scope is closed by a value.
    Closed(Scope, fn(&mut Case<'_>, &Node, &Object<'_>)),
    /// A fragment of something of a scope came.
    Fragment(Scope, fn(&mut Case<'_>, &Node)),
    /// Something happened in a node, at a single point.
    Point(fn(&mut Case<'_>, &Node)),
    /// The response ends, with a snapshot.
    Ending(fn(&mut Case<'_>, &Ending<'_>)),
    /// The stream is over. There is no record any more.
    Over(fn(&mut Case<'_>)),
    /// An answer that is no stream.
    Body(fn(&mut Case<'_>, &Frame<'_>)),
}

/// Rules that need nothing but the case.
pub(crate) type Plain = Vec<(Bound, fn(&mut Case<'_>))>;

/// Rules that look at the response as an event has it.
pub(crate) type OfSnapshot = Vec<(Bound, fn(&mut Case<'_>, &Snapshot<'_>))>;

/// Rules that look at an occurrence of a scope.
pub(crate) type OfNode = Vec<(Bound, fn(&mut Case<'_>, &Node))>;

/// Rules that look at an occurrence of one scope.
pub(crate) type OfNodeIn = Vec<(Bound, Scope, fn(&mut Case<'_>, &Node))>;

/// Rules that look at the end of the response.
pub(crate) type OfEnding = Vec<(Bound, fn(&mut Case<'_>, &Ending<'_>))>;

/// Rules that look at an answer that is no stream.
pub(crate) type OfBody = Vec<(Bound, fn(&mut Case<'_>, &Frame<'_>))>;

/// Rules that are about one scope.
pub(crate) type OfScope = Vec<(Bound, Scope, fn(&mut Case<'_>, &Node, &Object<'_>))>;

/// The rules with code, by when they are asked.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) frame: Plain,
    pub(crate) faulty: Plain,
    pub(crate) marker: Plain,
    pub(crate) event: Plain,
    pub(crate) sequence: Plain,
    pub(crate) beginning: Plain,
    pub(crate) socket: Plain,
    pub(crate) after_error: Plain,
    pub(crate) any_snapshot: OfSnapshot,
    pub(crate) snapshot: OfSnapshot,
    pub(crate) opened: OfScope,
    pub(crate) closed: OfScope,
    pub(crate) fragment: OfNodeIn,
    pub(crate) point: OfNode,
    pub(crate) ending: OfEnding,
    pub(crate) over: Plain,
    pub(crate) body: OfBody,
}

impl Hooks {
    pub(crate) fn add(&mut self, bound: Bound, natives: &[Native]) {
        for native in natives {
            match *native {
                Native::Frame(code) => self.frame.push((bound, code)),
                Native::Faulty(code) => self.faulty.push((bound, code)),
                Native::Marker(code) => self.marker.push((bound, code)),
                Native::Event(code) => self.event.push((bound, code)),
                Native::Sequence(code) => self.sequence.push((bound, code)),
                Native::Beginning(code) => self.beginning.push((bound, code)),
                Native::Socket(code) => self.socket.push((bound, code)),
                Native::AfterError(code) => self.after_error.push((bound, code)),
                Native::AnySnapshot(code) => self.any_snapshot.push((bound, code)),
                Native::Snapshot(code) => self.snapshot.push((bound, code)),
                Native::Opened(scope, code) => self.opened.push((bound, scope, code)),
                Native::Closed(scope, code) => self.closed.push((bound, scope, code)),
                Native::Fragment(scope, code) => self.fragment.push((bound, scope, code)),
                Native::Point(code) => self.point.push((bound, code)),
                Native::Ending(code) => self.ending.push((bound, code)),
                Native::Over(code) => self.over.push((bound, code)),
                Native::Body(code) => self.body.push((bound, code)),
            }
        }
    }
}
