//! The nodes of a stream: occurrences of scopes.

use std::collections::btree_map::{BTreeMap, Entry};

use spec::json::RawString;
use spec::table::{CallShape, Scope, ScopeInfo};
use spec::{Api, Count};

use super::cells::Cells;
use super::index::{Index, Oddities};
use super::location::SavedLocation;
use super::reusable::{Recycle, Reusable};
use super::view::Object;

/// The key of an occurrence of a scope: its indices, the outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Key {
    indices: [Index; Key::MAX],
    length: u8,
}

impl Key {
    const MAX: usize = Scope::MOST_KEYS;

    pub(super) fn push(&mut self, index: Index) {
        if let Some(place) = self.indices.get_mut(usize::from(self.length)) {
            *place = index;
            self.length += 1;
        }
    }

    pub(super) fn first(mut self, length: usize) -> Self {
        for index in self.indices.iter_mut().skip(length) {
            *index = Index::default();
        }
        self.length = self.length.min(u8::try_from(length).unwrap_or(u8::MAX));
        self
    }

    pub(crate) fn last(&self) -> Option<Index> {
        self.indices[..usize::from(self.length)].last().copied()
    }

    /// `None` if it is no valid position in a list.
    pub(crate) fn entry(&self) -> Option<u64> {
        self.last()?.whole()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeState {
    /// It has events, but was not opened.
    Implied,
    Open,
    Closed,
    /// It is no longer needed, and its memory is free.
    Gone,
}

/// One occurrence of a scope: an item, a part, a text.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Node {
    /// Its serial number among all added nodes.
    pub(super) number: u64,
    pub(crate) scope: Scope,
    pub(crate) level: &'static ScopeInfo,
    pub(crate) key: Key,
    state: NodeState,
    pub(crate) parent: Option<usize>,
    /// Its children that are still needed.
    pub(crate) children: Vec<usize>,
    kind: Reusable<String>,
    id: Reusable<String>,
    pub(crate) opened: Reusable<SavedLocation>,
    pub(crate) closed: Reusable<SavedLocation>,
    pub(crate) opening: Reusable<Object<'static>>,
    /// The value that closed it; for a text, its final value.
    pub(crate) closing: Reusable<Object<'static>>,
    reason: Reusable<String>,
    /// Number of deltas.
    pub(crate) fragments: u64,
    pub(crate) joined: String,
    pub(crate) repeats: Repeats,
    /// The log probabilities of the deltas: lists, as JSON.
    pub(crate) logprobs: Vec<Box<str>>,
    /// Whether some of its deltas are unknown or were withdrawn.
    pub(crate) partial: bool,
    /// Whether rules about its whole text were called.
    pub(super) is_settled: bool,
    /// Whether a gap in the indices of its children was reported.
    pub(super) has_gaps: bool,
    /// Whether a difference between its deltas and its final value was reported.
    pub(crate) disputed: bool,
    /// Whether a second closing event is allowed: the first came too early.
    pub(super) may_close_again: bool,
    /// The finding that nothing opened it, and the id that its events give it.
    pub(super) unopened: Option<Box<(usize, String)>>,
    /// The finding that another item has its index.
    pub(crate) doubt: Option<usize>,
    /// Rank of its last phase.
    pub(crate) phase: Option<usize>,
    /// The phase in which it ended.
    pub(crate) end: Option<&'static str>,
    /// The phases that it had: a bit for each rank.
    pub(crate) phases: u8,
    pub(super) cells: Cells,
    counters: Vec<Counter>,
}

#[derive(Debug)]
struct Counter {
    scope: Scope,
    /// All children, by the highest index.
    next: u64,
    open: usize,
}

/// Whether each delta of a text begins with the one before it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repeats {
    /// Whether one does not, as in nearly all texts from the second delta on.
    has_new: bool,
    /// Start of the last delta that is not empty.
    last: usize,
    /// Number of deltas that are longer than the one before them.
    growing: u32,
    /// Start of the last delta, empty or not.
    end: usize,
}

impl Repeats {
    fn compare(&mut self, joined: &str, start: usize) {
        let (before, delta) = joined.split_at(start);
        let last = before.get(self.last..).unwrap_or_default();
        if delta.is_empty() {
            return;
        }
        self.has_new = !delta.starts_with(last);
        self.growing += u32::from(!last.is_empty() && delta.len() > last.len());
        self.last = start;
    }

    /// The last of three or more deltas repeats all before it. Short texts may by chance.
    pub(crate) fn is_whole_at_end(self, joined: &str, deltas: u64) -> bool {
        let (before, last) = joined.split_at_checked(self.end).unwrap_or_default();
        deltas > 2 && last.len() >= SHORT && before == last
    }

    /// Two deltas may be alike by chance.
    pub(crate) const fn are_all(self) -> bool {
        !self.has_new && self.growing > 1
    }
}

/// Size of a text from which it is not repeated by chance.
const SHORT: usize = 16;

/// Initial capacity of a text, as most texts are much longer than their first delta.
const USUAL_TEXT: usize = 256;

impl Node {
    pub(super) fn new(level: &'static ScopeInfo, key: Key, state: NodeState, parent: Option<usize>) -> Self {
        Self {
            number: 0,
            scope: level.scope,
            level,
            key,
            state,
            parent,
            children: Vec::new(),
            kind: Reusable::default(),
            id: Reusable::default(),
            opened: Reusable::default(),
            closed: Reusable::default(),
            opening: Reusable::default(),
            closing: Reusable::default(),
            reason: Reusable::default(),
            fragments: 0,
            joined: String::new(),
            repeats: Repeats::default(),
            logprobs: Vec::new(),
            partial: false,
            is_settled: false,
            disputed: false,
            may_close_again: false,
            unopened: None,
            doubt: None,
            has_gaps: false,
            phase: None,
            end: None,
            phases: 0,
            cells: Cells::default(),
            counters: Vec::new(),
        }
    }

    /// Keeps its memory.
    fn empty(&mut self) {
        Recycle::recycle(&mut self.children);
        self.kind.empty();
        self.id.empty();
        self.opened.empty();
        self.closed.empty();
        self.opening.empty();
        self.closing.empty();
        self.reason.empty();
        self.fragments = 0;
        self.joined.recycle();
        self.repeats = Repeats::default();
        Recycle::recycle(&mut self.logprobs);
        self.cells.recycle();
        Recycle::recycle(&mut self.counters);
        (self.partial, self.is_settled, self.has_gaps, self.disputed) = (false, false, false, false);
        self.may_close_again = false;
        (self.phase, self.end, self.phases) = (None, None, 0);
        (self.unopened, self.doubt) = (None, None);
        self.state = NodeState::Gone;
    }

    /// Maximum size of the nodes that an event creates, without the values that they keep.
    pub(super) const MAX_WEIGHT: usize = 4 * Self::OWN;

    /// Size of a node with its entries in maps and lists, without the values that it keeps.
    const OWN: usize = size_of::<Self>() + 256;

    /// An upper bound.
    fn weight(&self) -> usize {
        let lists = self.children.capacity() * size_of::<usize>()
            + self.counters.capacity() * size_of::<Counter>()
            + self.cells.weight()
            + self.logprobs.capacity() * size_of::<Box<str>>();
        let texts: usize = self.logprobs.iter().map(|list| list.len()).sum();
        let words = [&self.kind, &self.id, &self.reason].into_iter().map(Reusable::weight).sum::<usize>();
        let marks = [&self.opened, &self.closed].into_iter().map(Reusable::weight).sum::<usize>();
        let values = [&self.opening, &self.closing].into_iter().map(Reusable::weight).sum::<usize>();
        let addressed = self.unopened.as_ref().map_or(0, |unopened| unopened.1.capacity());
        Self::OWN + lists + texts + addressed + words + marks + values + self.joined.capacity()
    }

    /// The `type` of the value that opened or closed it.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.kind.get().map(String::as_str)
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.id.get().map(String::as_str)
    }

    /// The word of its closing value for why it ended.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    pub(super) fn close_with(&mut self, value: &Object<'_>, api: &Api) {
        value.keep_in(&mut self.closing);
        let stop = api.stop.filter(|(scope, _)| *scope == self.scope);
        match stop.and_then(|(_, member)| value.string(member)) {
            Some(reason) => self.reason.write(&reason),
            None => self.reason.empty(),
        }
    }

    /// A known type or id stays.
    pub(super) fn learn(&mut self, value: &Object<'_>) {
        if !self.kind.is_set()
            && let Some(kind) = value.string("type")
        {
            self.kind.write(&kind);
        }
        if !self.id.is_set()
            && self.level.is_container
            && let Some(id) = value.string("id")
        {
            self.id.write(&id);
        }
    }

    #[inline]
    pub(super) fn append(&mut self, text: RawString<'_>) {
        self.fragments += 1;
        if self.joined.capacity() == 0 {
            self.joined.reserve(USUAL_TEXT);
        }
        let start = self.joined.len();
        self.repeats.end = start;
        if text.escaped {
            // Half of a surrogate pair: the character is unknown.
            self.partial |= spec::json::decode_onto(&mut self.joined, text.raw);
        } else {
            self.joined.push_str(text.raw);
        }
        if !self.repeats.has_new {
            self.repeats.compare(&self.joined, start);
        }
    }

    /// False if the node was not closed before its end. If it was, the event at hand counts as its end.
    pub(super) const fn take_early_close(&mut self) -> bool {
        std::mem::replace(&mut self.may_close_again, false)
    }

    pub(crate) fn next_index(&self, scope: Scope) -> u64 {
        self.counted(scope).map_or(0, |counter| counter.next)
    }

    pub(super) fn count(&mut self, scope: Scope, index: u64) {
        let counter = self.counter(scope);
        counter.next = counter.next.max(index.saturating_add(1));
    }

    pub(crate) fn open_within(&self, scope: Scope) -> usize {
        self.counted(scope).map_or(0, |counter| counter.open)
    }

    fn counted(&self, scope: Scope) -> Option<&Counter> {
        self.counters.iter().find(|counter| counter.scope == scope)
    }

    fn counter(&mut self, scope: Scope) -> &mut Counter {
        let known = self.counters.iter().position(|counter| counter.scope == scope);
        let at = known.unwrap_or_else(|| {
            self.counters.push(Counter { scope, next: 0, open: 0 });
            self.counters.len() - 1
        });
        &mut self.counters[at]
    }

    pub(crate) const fn state(&self) -> NodeState {
        self.state
    }

    /// In messages: `part 0 of item 1 (msg_1)`.
    pub(crate) fn name(&self, nodes: &Nodes) -> String {
        let own = self.level.noun();
        let parent = self.parent.and_then(|parent| nodes.get(parent));
        let has_own_index = self.level.own_index.is_some();
        let mut name = match self.key.last().filter(|_| has_own_index) {
            Some(index) => format!("{own} {}", nodes.oddities.name(index)),
            None => own,
        };
        match parent.filter(|parent| !parent.level.is_root) {
            Some(parent) => {
                name.push_str(" of ");
                name.push_str(&parent.name(nodes));
            }
            None => {
                if let Some(id) = self.id() {
                    name = format!("{name} ({id})");
                }
            }
        }
        name
    }
}

/// The nodes of a stream that are still needed.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// Boxed, so that they do not move.
    #[expect(clippy::vec_box, reason = "growing would copy the nodes, and need the room twice")]
    all: Vec<Box<Node>>,
    oddities: Oddities,
    /// Number of nodes of this stream; the rest is memory of earlier streams.
    used: usize,
    /// Number of nodes ever added, including earlier streams.
    added: u64,
    free: Vec<usize>,
    by_key: BTreeMap<(Scope, Key), usize>,
    /// Items by id.
    by_id: BTreeMap<Box<str>, usize>,
    /// Calls by `call_id`, the first of each.
    by_call_id: BTreeMap<Box<str>, usize>,
    /// The last used node of each scope: most events use the same node as the previous one.
    recent: Vec<Option<(Key, usize)>>,
}

/// Usual maximum number of nodes.
const FEW: usize = 8;

/// Maximum number of nodes whose memory is kept for the next stream.
const MANY: usize = 64;

impl Nodes {
    pub(super) fn new(root: &'static ScopeInfo) -> Self {
        let mut nodes = Self::default();
        nodes.all.resize_with(FEW, || Box::new(Node::new(root, Key::default(), NodeState::Gone, None)));
        nodes.clear();
        nodes
    }

    pub(super) fn clear(&mut self) {
        self.all.truncate(MANY);
        for node in self.all.iter_mut().take(self.used).filter(|node| node.state != NodeState::Gone) {
            node.empty();
        }
        self.used = 0;
        self.oddities.clear();
        self.free.clear();
        self.by_key.clear();
        self.by_id.clear();
        self.by_call_id.clear();
        self.recent.clear();
        self.recent.resize(Scope::ALL.len(), None);
    }

    #[inline]
    pub(super) fn index(&mut self, count: Count) -> Index {
        self.oddities.index(count)
    }

    pub(super) fn index_name(&self, index: Index) -> String {
        self.oddities.name(index)
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Node> {
        self.all.get(at).map(|node| &**node).filter(|node| node.state != NodeState::Gone)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Node> {
        self.all.get_mut(at).map(|node| &mut **node).filter(|node| node.state != NodeState::Gone)
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Node)> {
        let all = self.all.iter().map(|node| &**node).enumerate();
        all.filter(|(_, node)| node.state != NodeState::Gone)
    }

    pub(super) fn weight(&self) -> usize {
        self.numbered().map(|(_, node)| node.weight()).sum()
    }

    /// Marks all open nodes as incompletely known.
    pub(super) fn mark_gap(&mut self) {
        for node in
            self.all.iter_mut().filter(|node| !matches!(node.state, NodeState::Closed | NodeState::Gone))
        {
            node.partial = true;
        }
    }

    pub(super) fn find(&mut self, scope: Scope, key: Key) -> Option<usize> {
        if let Some((known, at)) = self.recent[scope as usize]
            && known == key
        {
            return Some(at);
        }
        let at = *self.by_key.get(&(scope, key))?;
        self.recent[scope as usize] = Some((key, at));
        Some(at)
    }

    pub(super) fn item_named(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn has_item(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn set_state(&mut self, at: usize, state: NodeState) {
        let Some(node) = self.get_mut(at) else { return };
        let before = std::mem::replace(&mut node.state, state);
        let (scope, parent) = (node.scope, node.parent);
        self.count_open(scope, parent, before, state);
    }

    fn count_open(&mut self, scope: Scope, parent: Option<usize>, before: NodeState, state: NodeState) {
        let (was_open, is_open) = (before == NodeState::Open, state == NodeState::Open);
        if was_open != is_open
            && let Some(parent) = parent.and_then(|parent| self.get_mut(parent))
        {
            let open = &mut parent.counter(scope).open;
            *open = if is_open { *open + 1 } else { open.saturating_sub(1) };
        }
    }

    /// The first item of an id keeps it.
    pub(super) fn name_item(&mut self, at: usize) {
        if let Some(id) = self.all.get(at).and_then(|node| node.id()) {
            name_first(&mut self.by_id, id, at);
        }
    }

    pub(crate) fn call_named(&self, id: &str) -> Option<&Node> {
        self.get(*self.by_call_id.get(id)?)
    }

    /// The first call of a `call_id` keeps it.
    pub(super) fn name_call(&mut self, at: usize, call: &CallShape) {
        let Some(item) = self.all.get(at) else { return };
        if let Some(id) = item.opening.get().or(item.closing.get()).and_then(|value| value.call_id(call)) {
            name_first(&mut self.by_call_id, id, at);
        }
    }

    /// An earlier node with the same key is found only by its id from then on.
    pub(super) fn add(
        &mut self,
        level: &'static ScopeInfo,
        key: Key,
        state: NodeState,
        parent: Option<usize>,
    ) -> usize {
        let scope = level.scope;
        let at = self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        if at == self.all.len() {
            self.all.push(Box::new(Node::new(level, key, state, parent)));
        }
        self.added += 1;
        if let Some(node) = self.all.get_mut(at) {
            (node.scope, node.level, node.key) = (scope, level, key);
            (node.state, node.parent) = (state, parent);
            node.number = self.added;
        }
        self.by_key.insert((scope, key), at);
        self.recent[scope as usize] = Some((key, at));
        if let Some(parent) = parent.and_then(|parent| self.get_mut(parent)) {
            parent.children.push(at);
        }
        self.count_open(scope, parent, NodeState::Implied, state);
        at
    }

    /// Open descendants stay.
    pub(super) fn forget_closed_below(&mut self, at: usize) {
        let Some(node) = self.get_mut(at) else { return };
        let mut children = std::mem::take(&mut node.children);
        children.retain(|child| {
            // Open nodes and their descendants are still needed.
            if self.get(*child).is_some_and(|node| node.state == NodeState::Open || node.level.kept) {
                return true;
            }
            self.forget_closed_below(*child);
            let is_done = self.get(*child).is_some_and(|node| node.children.is_empty());
            if is_done {
                self.remove(*child);
            }
            !is_done
        });
        if let Some(node) = self.get_mut(at) {
            node.children = children;
        }
    }

    fn remove(&mut self, at: usize) {
        let Some(node) = self.get_mut(at) else { return };
        let (scope, key) = (node.scope, node.key);
        node.empty();
        if let Entry::Occupied(entry) = self.by_key.entry((scope, key))
            && *entry.get() == at
        {
            entry.remove();
        }
        self.recent[scope as usize] = None;
        self.free.push(at);
    }
}

/// The first node of a name keeps it.
fn name_first(names: &mut BTreeMap<Box<str>, usize>, name: &str, at: usize) {
    if !names.contains_key(name) {
        names.insert(name.into(), at);
    }
}
