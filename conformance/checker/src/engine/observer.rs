//! Observers of a stream while it is checked.

use spec::table::{EventInfo, Scope};
use spec::{Dialect, View};

use super::node::{Node, Nodes};
use super::record::Record;

/// Observes a stream while it is checked, so that each event is parsed once for everyone.
pub trait Observer {
    /// Called after a frame with data was checked.
    fn record(&mut self, seen: &Seen<'_>);

    /// Without an observer, repetitive frames are checked faster.
    fn is_watching(&self) -> bool {
        true
    }
}

/// A checked frame.
#[derive(Debug)]
pub struct Seen<'s> {
    /// The parsed frame.
    pub record: &'s Record<'s>,
    /// The dialect of the check.
    pub dialect: &'static Dialect,
    /// The subject of the event, or of its last effect; none if the dialect does not define the event, or if it arrives
    /// after its subject has ended.
    pub about: Option<Occurrence<'s>>,
    pub(super) nodes: &'s Nodes,
    /// The subjects of its effects, if its type has a list.
    pub(super) subjects: &'s [Subject],
    /// Lane of the WebSocket; other transports have one unnamed lane.
    pub lane: Option<&'s str>,
    /// Whether the frame has new findings.
    pub is_faulty: bool,
}

/// An effect of an event that took place.
#[derive(Debug, Clone, Copy)]
pub struct SeenEffect<'s> {
    /// Its properties.
    pub info: &'static EventInfo,
    /// Its values.
    pub view: View<'s>,
    /// Its subject; none if it came after that has ended, or ended with this event.
    pub about: Option<Occurrence<'s>>,
}

impl<'s> Seen<'s> {
    /// Returns the effects that took place, in order: one, unless the type of the event has a list.
    pub fn effects(&self) -> impl Iterator<Item = SeenEffect<'s>> {
        let (record, nodes) = (self.record, self.nodes);
        let is_listed = record.matches.is_some_and(|matches| !matches.is_empty());
        let only = self.about.filter(|_| !is_listed);
        let mut subjects = self.subjects.iter();
        record.views().map(move |(info, view)| {
            let subject = only.or_else(|| subjects.next()?.occurrence(nodes));
            SeenEffect { info, view, about: subject }
        })
    }
}

/// The position of the node that an effect is about, and its number, as the event can remove it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject(Option<(usize, u64)>);

impl Subject {
    pub(super) fn of(nodes: &Nodes, at: Option<usize>) -> Self {
        Self(at.and_then(|at| Some((at, nodes.get(at)?.number))))
    }

    fn occurrence<'s>(&self, nodes: &'s Nodes) -> Option<Occurrence<'s>> {
        let (at, number) = self.0?;
        Occurrence::new(nodes, at).filter(|found| found.id() == number)
    }
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

    /// Returns its key, unique in the stream.
    pub const fn id(&self) -> u64 {
        self.node.number
    }

    /// Returns its scope.
    pub const fn scope(&self) -> Scope {
        self.node.scope
    }

    /// Returns the response that contains it.
    #[must_use]
    pub fn response(&self) -> Self {
        std::iter::successors(Some(*self), Self::parent).last().unwrap_or(*self)
    }

    /// Returns its parent.
    pub fn parent(&self) -> Option<Self> {
        Self::new(self.nodes, self.node.parent?)
    }
}

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

impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for (&mut A, &mut B) {
    fn record(&mut self, seen: &Seen<'_>) {
        self.0.record(seen);
        self.1.record(seen);
    }

    fn is_watching(&self) -> bool {
        self.0.is_watching() || self.1.is_watching()
    }
}
