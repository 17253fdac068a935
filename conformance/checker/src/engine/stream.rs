//! What is known of a stream of one response.

use std::borrow::Cow;
use std::mem::take;
use std::sync::OnceLock;

use spec::table::{Scope, Slot};
use spec::{Count, View};

use super::node::{Key, Node, Nodes, State};
use super::record::Record;
use super::reusable::{Recycle, Reusable};
use super::view::Object;
use crate::Transport;

/// What is known of a stream of one response, up to the event at hand.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Stream {
    /// What was opened in it; the response itself comes first.
    pub(crate) nodes: Nodes,
    /// Its items, in the order in which they came.
    pub(crate) items: Vec<usize>,
    /// It began before the one before it had ended.
    pub(crate) overlaps: bool,
    /// The first item that ended incomplete.
    pub(super) incomplete: Option<usize>,
    /// The last delta: the next event mostly feeds the same.
    pub(super) recent: Recent,
    /// What its frames came on.
    pub(crate) transport: Transport,
    /// How many events came before.
    pub(crate) events: u64,
    /// The types of the first few of them.
    pub(crate) first_types: Vec<Cow<'static, str>>,
    /// It is the rest of a stream that was broken off.
    pub(crate) resumed: bool,
    /// Something in it could not be read, so not all that belongs to it is known.
    pub(crate) has_gap: bool,
    /// The last sequence number.
    pub(crate) sequence_number: Option<Count>,
    /// The response as the first event has it.
    pub(crate) first_snapshot: Reusable<Object<'static>>,
    /// The functions that it declares, once a call has asked for them. Nothing where they cannot be known.
    pub(crate) functions: OnceLock<Option<Vec<String>>>,
    /// The last `error` event.
    pub(crate) error: Reusable<Object<'static>>,
    /// Where the marker `[DONE]` stood first.
    pub(crate) done: Option<u64>,
    /// What is kept of it takes no more memory than so much.
    weight: usize,
    /// More of it would have to be kept than is, so nothing is, and what comes is not judged.
    pub(crate) is_beyond: bool,
}

/// The response is the first node of every stream.
pub(super) const RESPONSE: usize = 0;

/// So much memory is taken by what is open in a stream, and by its finished items, before it is judged no more.
/// That are some hundred thousand items; no recorded stream has a thousand.
pub(crate) const MOST_KEPT: usize = 256 << 20;

/// What is kept of data takes no more than so many times their room: texts, and where their members stand.
const OF_DATA: usize = 6;

/// So many types of first events are kept.
const FIRST_TYPES: usize = 4;

impl Stream {
    pub(super) fn new() -> Self {
        Self::with(Nodes::new())
    }

    /// Forgets all, for another stream.
    pub(super) fn reset(&mut self) {
        let Self { nodes, items, recent, first_types, first_snapshot, .. } = self;
        nodes.clear();
        items.recycle();
        recent.forget();
        first_types.clear();
        first_snapshot.empty();
        let (nodes, items, first_snapshot) = (take(nodes), take(items), take(first_snapshot));
        let (recent, first_types) = (take(recent), take(first_types));
        *self = Self { items, recent, first_types, first_snapshot, ..Self::with(nodes) };
    }

    fn with(mut nodes: Nodes) -> Self {
        nodes.add(Scope::ROOT, Key::default(), State::Implied, None);
        Self {
            nodes,
            items: Vec::new(),
            incomplete: None,
            overlaps: false,
            recent: Recent::default(),
            transport: Transport::default(),
            events: 0,
            first_types: Vec::new(),
            resumed: false,
            has_gap: false,
            sequence_number: None,
            first_snapshot: Reusable::default(),
            functions: OnceLock::new(),
            error: Reusable::default(),
            done: None,
            weight: 0,
            is_beyond: false,
        }
    }

    /// Returns what of the stream has this id, in words.
    #[cold]
    pub(crate) fn known_as(&self, id: &str) -> Option<String> {
        let snapshot = self.first_snapshot.get().and_then(|response| response.string("id"));
        if snapshot.as_deref() == Some(id) {
            return Some("the id of the response".to_owned());
        }
        let (what, node) = match self.nodes.item_named(id) {
            Some(item) => ("id", self.nodes.get(item)?),
            None => ("call_id", self.nodes.call_named(id)?),
        };
        Some(format!("the {what} of item {}", self.nodes.index_name(node.key.last()?)))
    }

    /// Notes that so much data came. What is kept of them is looked at only when that can be too much.
    #[inline]
    pub(super) fn weigh(&mut self, data: usize) {
        self.weight += OF_DATA * data + Node::MAX_WEIGHT;
        if self.weight > MOST_KEPT {
            self.weigh_all();
        }
    }

    #[cold]
    fn weigh_all(&mut self) {
        let items = self.items.capacity() * size_of::<usize>();
        self.weight = self.nodes.weight() + items;
        // To weigh it for each event would take long.
        if self.weight > MOST_KEPT - MOST_KEPT / 16 {
            let transport = self.transport;
            *self = Self { transport, is_beyond: true, ..Self::new() };
        }
    }

    pub(super) fn count(&mut self, record: &Record<'_>) {
        self.events += 1;
        if self.first_types.len() < FIRST_TYPES {
            self.first_types.push(record.kept_type());
        }
    }

    /// The node that the last delta fed, where nothing but its text has to be looked at.
    pub(super) fn fed(&self) -> Option<usize> {
        let is_usual = self.events >= FIRST_TYPES as u64 && self.done.is_none() && !self.error.is_set();
        self.recent.fed.filter(|_| is_usual).map(|(_, node)| node)
    }

    /// Adds a fragment, as it is written, to the text of a node, if its sequence number is the next one.
    pub(super) fn feed(&mut self, node: usize, text: &str, number: u64) -> bool {
        if self.sequence_number != number.checked_sub(1).map(Count::Whole) {
            return false;
        }
        let Some(node) = self.nodes.get_mut(node) else { return false };
        node.fragments += 1;
        node.partial |= spec::json::decode_onto(&mut node.joined, text);
        self.sequence_number = Some(Count::Whole(number));
        self.events += 1;
        true
    }

    /// The next event may be of something else than the last one.
    pub(super) fn forget_recent(&mut self) {
        self.recent.forget();
    }

    /// Something came that cannot be read: whatever follows may lack it.
    pub(super) fn mark_gap(&mut self) {
        self.has_gap = true;
        self.sequence_number = None;
        self.nodes.mark_gap();
    }

    /// Whether a sequence number is the next one.
    pub(super) fn is_next(&self, number: Option<&Count>) -> bool {
        match (number, &self.sequence_number) {
            (Some(Count::Whole(number)), None) => *number == 0,
            (Some(Count::Whole(number)), Some(Count::Whole(before))) => {
                number.checked_sub(1) == Some(*before)
            }
            _ => false,
        }
    }

    /// The response.
    pub(crate) fn response(&self) -> Option<&Node> {
        self.nodes.get(RESPONSE)
    }

    /// Whether the response has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.response().is_some_and(|response| response.state() != State::Implied)
    }

    /// Whether the response has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.response().is_some_and(|response| response.state() == State::Closed)
    }

    /// Whether an event is an error that answers a message on a WebSocket, outside of any response: it has
    /// an envelope of its own.
    pub(crate) fn is_answered_apart(&self, record: &Record<'_>) -> bool {
        record.frame.transport == Transport::WebSocket && record.is_error && !self.has_begun()
    }

    /// Its items, in the order in which they came.
    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.items.iter().filter_map(|at| self.nodes.get(*at))
    }

    /// The first item that ended incomplete.
    pub(crate) fn incomplete(&self) -> Option<&Node> {
        self.nodes.get(self.incomplete?)
    }

    /// What an occurrence of a scope is called.
    pub(crate) fn name(&self, node: &Node) -> String {
        node.name(&self.nodes)
    }

    /// What a node lies in.
    pub(crate) fn parent(&self, node: &Node) -> Option<&Node> {
        self.nodes.get(node.parent?)
    }

    /// What of a scope lies in a node.
    pub(crate) fn children<'s>(&'s self, node: &'s Node, scope: Scope) -> impl Iterator<Item = &'s Node> {
        node.children.iter().filter_map(|at| self.nodes.get(*at)).filter(move |child| child.scope == scope)
    }
}

/// What a delta fed, by the words with which it said so.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The event and the node; nothing is known without them.
    fed: Option<(usize, usize)>,
    words: [Vec<u8>; Slot::PLACES.len()],
}

impl Recent {
    /// What an event feeds, if it is like the last one.
    pub(super) fn node(&self, event: usize, view: &View<'_>) -> Option<usize> {
        let (of, node) = self.fed?;
        if view.repeats() {
            return Some(node);
        }
        let is_same = |(word, slot): (&Vec<u8>, Slot)| match (word.as_slice(), view.raw(slot)) {
            ([], None) => true,
            // An index is mostly one digit, which takes no call to compare.
            ([digit], Some(found)) => found.as_bytes() == [*digit],
            (word, Some(found)) => word == found.as_bytes(),
            (_, None) => false,
        };
        (of == event && self.words.iter().zip(Slot::PLACES).all(is_same)).then_some(node)
    }

    pub(super) fn keep(&mut self, event: usize, node: usize, view: &View<'_>) {
        self.fed = Some((event, node));
        for (word, slot) in self.words.iter_mut().zip(Slot::PLACES) {
            word.clear();
            word.extend_from_slice(view.raw(slot).unwrap_or_default().as_bytes());
        }
    }

    pub(super) fn forget(&mut self) {
        self.fed = None;
    }
}
