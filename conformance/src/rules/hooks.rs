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
    /// An event came that is a JSON object; the stream is as it was before.
    Event(fn(&mut Case<'_>)),
    /// An event came that has the response.
    Snapshot(fn(&mut Case<'_>, &Snapshot<'_>)),
    /// Something of a scope was opened by a value.
    Opened(Scope, fn(&mut Case<'_>, &Node, &Object)),
    /// Something of a scope is closed by a value.
    Closed(Scope, fn(&mut Case<'_>, &Node, &Object)),
    /// A fragment came.
    Fragment(fn(&mut Case<'_>, &Node)),
    /// Something happened in a node, at a single point.
    Point(fn(&mut Case<'_>, &Node)),
    /// The response ends, with a snapshot.
    Ending(fn(&mut Case<'_>, &Ending<'_>)),
    /// The stream is over. There is no record any more.
    Over(fn(&mut Case<'_>)),
    /// An answer that is no stream.
    Body(fn(&mut Case<'_>, &Frame<'_>)),
}

/// Rules that are about one scope.
pub(crate) type OfScope = Vec<(Bound, Scope, fn(&mut Case<'_>, &Node, &Object))>;

/// The rules with code, by when they are asked.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) frame: Vec<(Bound, fn(&mut Case<'_>))>,
    pub(crate) event: Vec<(Bound, fn(&mut Case<'_>))>,
    pub(crate) snapshot: Vec<(Bound, fn(&mut Case<'_>, &Snapshot<'_>))>,
    pub(crate) opened: OfScope,
    pub(crate) closed: OfScope,
    pub(crate) fragment: Vec<(Bound, fn(&mut Case<'_>, &Node))>,
    pub(crate) point: Vec<(Bound, fn(&mut Case<'_>, &Node))>,
    pub(crate) ending: Vec<(Bound, fn(&mut Case<'_>, &Ending<'_>))>,
    pub(crate) over: Vec<(Bound, fn(&mut Case<'_>))>,
    pub(crate) body: Vec<(Bound, fn(&mut Case<'_>, &Frame<'_>))>,
}

impl Hooks {
    pub(crate) fn add(&mut self, bound: Bound, natives: &[Native]) {
        for native in natives {
            match *native {
                Native::Frame(code) => self.frame.push((bound, code)),
                Native::Event(code) => self.event.push((bound, code)),
                Native::Snapshot(code) => self.snapshot.push((bound, code)),
                Native::Opened(scope, code) => self.opened.push((bound, scope, code)),
                Native::Closed(scope, code) => self.closed.push((bound, scope, code)),
                Native::Fragment(code) => self.fragment.push((bound, code)),
                Native::Point(code) => self.point.push((bound, code)),
                Native::Ending(code) => self.ending.push((bound, code)),
                Native::Over(code) => self.over.push((bound, code)),
                Native::Body(code) => self.body.push((bound, code)),
            }
        }
    }
}
