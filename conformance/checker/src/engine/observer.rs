//! What others see of a stream while it is judged.

use spec::table::Scope;

use super::node::{Node, Nodes};
use super::record::Record;

/// Watches a stream while it is judged, so that each event is read once, whoever has to know of it.
pub trait Observer {
    /// A frame with data came, and was judged.
    fn record(&mut self, seen: &Seen<'_>);

    /// Returns whether it is to be shown any frame. Where it is not, frames that repeat are checked faster.
    fn is_watching(&self) -> bool {
        true
    }
}

/// A frame, and what the checker knows of it.
#[derive(Debug)]
pub struct Seen<'s> {
    /// The frame, read.
    pub record: &'s Record<'s>,
    /// What its event is about. There is nothing where the event is not of the dialect, or comes too late: after
    /// the end of what it is about.
    pub about: Option<Occurrence<'s>>,
    /// The lane of the WebSocket that it is judged in; everything else is in one lane without a name.
    pub lane: Option<&'s str>,
    /// Whether something was found wrong with it that was not wrong before.
    pub is_faulty: bool,
}

/// One occurrence of a scope: an item, a part, a text.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'s> {
    nodes: &'s Nodes,
    node: &'s Node,
}

impl<'s> Occurrence<'s> {
    pub(super) fn new(nodes: &'s Nodes, at: usize) -> Option<Self> {
        Some(Self { nodes, node: nodes.get(at)? })
    }

    /// What tells it from all others of the stream.
    pub const fn id(&self) -> u64 {
        self.node.number
    }

    /// Its scope.
    pub const fn scope(&self) -> Scope {
        self.node.scope
    }

    /// The response that it lies in.
    #[must_use]
    pub fn response(&self) -> Self {
        std::iter::successors(Some(*self), Self::parent).last().unwrap_or(*self)
    }

    /// What it lies in.
    pub fn parent(&self) -> Option<Self> {
        Self::new(self.nodes, self.node.parent?)
    }
}

/// Nobody watches.
impl Observer for () {
    fn record(&mut self, _: &Seen<'_>) {}

    fn is_watching(&self) -> bool {
        false
    }
}

impl<O: Observer> Observer for Option<O> {
    fn record(&mut self, seen: &Seen<'_>) {
        if let Some(observer) = self {
            observer.record(seen);
        }
    }

    fn is_watching(&self) -> bool {
        self.as_ref().is_some_and(Observer::is_watching)
    }
}

/// Both watch.
impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for (&mut A, &mut B) {
    fn record(&mut self, seen: &Seen<'_>) {
        self.0.record(seen);
        self.1.record(seen);
    }

    fn is_watching(&self) -> bool {
        self.0.is_watching() || self.1.is_watching()
    }
}
