//! The state of a stream of one response.

use std::borrow::Cow;
use std::mem::take;
use std::sync::OnceLock;

use spec::json::{RawString, is_same};
use spec::table::{Scope, Slot};
use spec::{Api, Count, View};

use super::node::{Key, Node, NodeState, Nodes};
use super::record::Record;
use super::reusable::{Recycle, Reusable};
use super::usage::Usage;
use super::view::Object;
use crate::Transport;

/// The state of a stream of one response before the current event.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Stream {
    pub(super) api: &'static Api,
    /// Its nodes; the first is the response.
    pub(crate) nodes: Nodes,
    /// Its items, in order of appearance.
    pub(crate) items: Vec<usize>,
    /// Whether it began before the previous one had ended.
    pub(crate) overlaps: bool,
    /// The first item that ended incomplete.
    pub(super) incomplete: Option<usize>,
    /// The last delta: the next event usually extends the same node.
    pub(super) recent: Recent,
    /// Whether relations said nothing of the last event as a whole.
    pub(super) is_related: bool,
    pub(crate) transport: Transport,
    /// Number of previous events.
    pub(crate) events: u64,
    pub(crate) first_types: Vec<Cow<'static, str>>,
    /// Whether it is the rest of an interrupted stream.
    pub(crate) resumed: bool,
    /// Whether a part of it could not be parsed, so that values may be missing.
    pub(crate) has_gap: bool,
    pub(crate) sequence_number: Option<Count>,
    pub(crate) first_snapshot: Reusable<Object<'static>>,
    pub(crate) first_usage: Usage,
    /// The declared tools that the client runs, with the type of their calls, computed for the first call; none if they
    /// are unknown.
    pub(crate) declared: OnceLock<Option<Vec<(&'static str, String)>>>,
    pub(crate) error: Reusable<Object<'static>>,
    /// Location of the first `[DONE]`.
    pub(crate) done: Option<u64>,
    /// Upper bound of the memory of its state.
    weight: usize,
    /// Whether its state exceeded the memory limit: it was dropped, and further events are not checked.
    pub(crate) is_beyond: bool,
}

/// Position of the response, the first node of every stream.
pub(super) const RESPONSE: usize = 0;

/// Memory limit for open nodes and finished items. It allows some hundred thousand items; no recorded stream has a
/// thousand.
pub(crate) const MOST_KEPT: usize = 256 << 20;

/// Maximum ratio of kept data, which includes the places of members, to the size of the data.
const OF_DATA: usize = 6;

const FIRST_TYPES: usize = 4;

impl Stream {
    pub(super) fn new(api: &'static Api) -> Self {
        Self::with(api, Nodes::new(api.scope(api.root)))
    }

    pub(super) fn reset(&mut self) {
        let Self { nodes, items, recent, first_types, first_snapshot, .. } = self;
        nodes.clear();
        items.recycle();
        recent.forget();
        first_types.clear();
        first_snapshot.empty();
        let (nodes, items, first_snapshot) = (take(nodes), take(items), take(first_snapshot));
        let (recent, first_types) = (take(recent), take(first_types));
        *self = Self { items, recent, first_types, first_snapshot, ..Self::with(self.api, nodes) };
    }

    /// A node that shares its index with another one, or lies in such a node, is in doubt.
    pub(super) fn doubt(&self, node: usize) -> Option<usize> {
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            if node.doubt.is_some() {
                return node.doubt;
            }
            at = node.parent;
        }
        None
    }

    fn with(api: &'static Api, mut nodes: Nodes) -> Self {
        nodes.add(api.scope(api.root), Key::default(), NodeState::Implied, None);
        Self {
            api,
            nodes,
            items: Vec::new(),
            incomplete: None,
            overlaps: false,
            recent: Recent::default(),
            is_related: false,
            transport: Transport::default(),
            events: 0,
            first_types: Vec::new(),
            resumed: false,
            has_gap: false,
            sequence_number: None,
            first_snapshot: Reusable::default(),
            first_usage: Usage::default(),
            declared: OnceLock::new(),
            error: Reusable::default(),
            done: None,
            weight: 0,
            is_beyond: false,
        }
    }

    #[cold]
    pub(crate) fn known_as(&self, id: &str) -> Option<String> {
        if self.response_id().as_deref() == Some(id) {
            return Some(format!("the id of the {}", self.response()?.level.noun()));
        }
        let (what, node) = match self.nodes.item_named(id) {
            Some(item) => ("id", self.nodes.get(item)?),
            None => (self.api.call.id, self.nodes.call_named(id)?),
        };
        Some(format!("the {what} of {} {}", node.level.noun(), self.nodes.index_name(node.key.last()?)))
    }

    /// The kept data is measured only if it may exceed the limit.
    #[inline]
    pub(super) fn weigh(&mut self, data: usize) {
        self.set_weight(self.weight + OF_DATA * data + Node::MAX_WEIGHT);
    }

    #[inline]
    fn set_weight(&mut self, weight: usize) {
        self.weight = weight;
        if weight > MOST_KEPT {
            self.weigh_all();
        }
    }

    #[cold]
    fn weigh_all(&mut self) {
        let items = self.items.capacity() * size_of::<usize>();
        self.weight = self.nodes.weight() + items;
        // Measuring it for each event would be slow.
        if self.weight > MOST_KEPT - MOST_KEPT / 16 {
            let transport = self.transport;
            *self = Self { transport, is_beyond: true, ..Self::new(self.api) };
        }
    }

    pub(super) fn count(&mut self, record: &Record<'_>) {
        if !self.has_begun() && record.is_early() {
            return;
        }
        self.events += 1;
        if self.first_types.len() < FIRST_TYPES && record.is_part() {
            self.first_types.push(record.kept_type());
        }
    }

    /// The last event has to be a delta.
    pub(super) fn has_recent_text(&self) -> bool {
        let node = self.recent.fed.and_then(|(_, node)| self.nodes.get(node));
        node.is_some_and(|node| !node.joined.is_empty())
    }

    /// Appends deltas while only the last text has to be updated. `next` returns the text and size of the delta with
    /// the next sequence number, or without a number. Returns the number of deltas.
    #[inline]
    pub(super) fn feed<'t>(
        &mut self,
        mut next: impl FnMut(Option<u64>) -> Option<(RawString<'t>, usize)>,
    ) -> u64 {
        let is_usual = self.events >= FIRST_TYPES as u64 && self.done.is_none() && !self.error.is_set();
        let Some((_, node)) = self.recent.fed.filter(|_| is_usual) else { return 0 };
        let before = match self.sequence_number {
            Some(Count::Whole(before)) => Some(before),
            Some(_) => return 0,
            None => None,
        };
        let Some(node) = self.nodes.get_mut(node) else { return 0 };
        let (mut count, mut weight) = (0, self.weight);
        while weight <= MOST_KEPT
            && let Some((text, data)) = next(before.map(|before| before + count + 1))
        {
            node.append(text);
            weight += OF_DATA * data + Node::MAX_WEIGHT;
            count += 1;
        }
        if count > 0 {
            self.sequence_number = before.map(|before| Count::Whole(before + count));
            self.events += count;
            self.set_weight(weight);
        }
        count
    }

    /// Later events may need the part that cannot be parsed.
    pub(super) fn mark_gap(&mut self) {
        self.has_gap = true;
        self.sequence_number = None;
        self.nodes.mark_gap();
    }

    pub(crate) const fn is_whole(&self) -> bool {
        !self.has_gap && !self.resumed
    }

    pub(super) fn is_next(&self, number: Option<&Count>) -> bool {
        match (number, &self.sequence_number) {
            (Some(Count::Whole(number)), None) => *number == 0,
            (Some(Count::Whole(number)), Some(Count::Whole(before))) => {
                number.checked_sub(1) == Some(*before)
            }
            _ => false,
        }
    }

    pub(crate) fn response(&self) -> Option<&Node> {
        self.nodes.get(RESPONSE)
    }

    pub(super) fn response_id(&self) -> Option<Cow<'_, str>> {
        self.first_snapshot.get().and_then(|response| response.string("id"))
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.response().is_some_and(|response| response.state() != NodeState::Implied)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.response().is_some_and(|response| response.state() == NodeState::Closed)
    }

    /// The mark of whether the response is complete, apart from events that may follow its end.
    pub(crate) fn stage(&self) -> &'static str {
        /// Parts that are looked at: those with a reason are choices, and few.
        const FEW: usize = 16;
        let has_reason = |node: &Node| node.reason().is_some();
        let of_parts = || {
            let parts = self.response().into_iter().flat_map(|response| &response.children);
            parts.take(FEW).filter_map(|part| self.nodes.get(*part)).any(has_reason)
        };
        let is_complete = self.has_ended() || self.response().is_some_and(has_reason) || of_parts();
        if is_complete { "@ended" } else { "@open" }
    }

    /// Such an error has an envelope of its own.
    pub(crate) fn is_answered_apart(&self, record: &Record<'_>) -> bool {
        record.frame.transport == Transport::WebSocket && record.is_error && !self.has_begun()
    }

    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.items.iter().filter_map(|at| self.nodes.get(*at))
    }

    pub(crate) fn incomplete(&self) -> Option<&Node> {
        self.nodes.get(self.incomplete?)
    }

    pub(crate) fn name(&self, node: &Node) -> String {
        node.name(&self.nodes)
    }

    pub(crate) fn parent(&self, node: &Node) -> Option<&Node> {
        self.nodes.get(node.parent?)
    }

    pub(crate) fn children<'s>(
        &'s self,
        node: &'s Node,
        scope: Scope,
    ) -> impl DoubleEndedIterator<Item = &'s Node> {
        node.children.iter().filter_map(|at| self.nodes.get(*at)).filter(move |child| child.scope == scope)
    }
}

/// The node of a delta, by the raw values of its keys.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The event and the node, if known.
    fed: Option<(usize, usize)>,
    /// The values, each with [`END`] behind it.
    words: Vec<u8>,
}

/// The end of a value: no JSON has this byte.
const END: u8 = 0;

impl Recent {
    /// An event with the same keys as the last one has the same node.
    pub(super) fn node(&self, event: usize, view: &View<'_>) -> Option<usize> {
        let (of, node) = self.fed?;
        if view.repeats() {
            return Some(node);
        }
        let mut rest = self.words.as_slice();
        let mut is_same = |slot: &Slot| {
            let found = view.raw(*slot).unwrap_or_default().as_bytes();
            let same = rest.split_at_checked(found.len()).filter(|(word, _)| is_same(word, found));
            let behind = same.and_then(|(_, behind)| behind.strip_prefix(&[END]));
            rest = behind.unwrap_or_default();
            behind.is_some()
        };
        (of == event && Slot::PLACES.iter().all(&mut is_same)).then_some(node)
    }

    pub(super) fn keep(&mut self, event: usize, node: usize, view: &View<'_>) {
        self.fed = Some((event, node));
        self.words.clear();
        for slot in Slot::PLACES {
            self.words.extend_from_slice(view.raw(slot).unwrap_or_default().as_bytes());
            self.words.push(END);
        }
    }

    pub(super) fn forget(&mut self) {
        self.fed = None;
    }
}
