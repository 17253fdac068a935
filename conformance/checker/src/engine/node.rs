//! What is open in a stream.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use spec::Count;
use spec::table::{Scope, Slot};

use super::index::{Index, Oddities};
use super::location::SavedLocation;
use super::reusable::{Recycle, Reusable};
use super::view::Object;

/// Which of its siblings an occurrence of a scope is: its indices, the outermost first.
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

    /// The same for a scope further out.
    pub(super) fn first(mut self, length: usize) -> Self {
        for index in self.indices.iter_mut().skip(length) {
            *index = Index::default();
        }
        self.length = self.length.min(u8::try_from(length).unwrap_or(u8::MAX));
        self
    }

    /// The index that tells it from its siblings.
    pub(crate) fn last(&self) -> Option<Index> {
        self.indices[..usize::from(self.length)].last().copied()
    }

    /// The entry of a list that it is, if it can be one.
    pub(crate) fn entry(&self) -> Option<u64> {
        self.last()?.whole()
    }
}

/// How far an occurrence of a scope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Something happened in it, and nothing opened it.
    Implied,
    /// It is open.
    Open,
    /// It is closed.
    Closed,
    /// It is of no interest any more, and its place and its room are free.
    Gone,
}

/// One occurrence of a scope: an item, a part, a text.
#[derive(Debug)]
pub(crate) struct Node {
    /// Which it is of all that were ever added.
    pub(super) number: u64,
    /// What it is.
    pub(crate) scope: Scope,
    /// Which one.
    pub(crate) key: Key,
    /// How far it is.
    state: State,
    /// What it lies in.
    pub(crate) parent: Option<usize>,
    /// What lies in it, as far as that is still of interest.
    pub(crate) children: Vec<usize>,
    kind: Reusable<String>,
    id: Reusable<String>,
    /// Where it was opened.
    pub(crate) opened: Reusable<SavedLocation>,
    /// Where it was closed.
    pub(crate) closed: Reusable<SavedLocation>,
    /// The value that opened it.
    pub(crate) opening: Reusable<Object<'static>>,
    /// The value that closed it; for a text, its final value.
    pub(crate) closing: Reusable<Object<'static>>,
    /// How many fragments came.
    pub(crate) fragments: u64,
    /// The fragments, joined.
    pub(crate) joined: String,
    /// The log probabilities that came with them: lists, as JSON.
    pub(crate) logprobs: Vec<Box<str>>,
    /// Not all of its fragments are known, or they were taken back.
    pub(crate) partial: bool,
    /// The indices of what lies in it have gaps, which was told.
    pub(super) has_gaps: bool,
    /// Its fragments and its final value differ, which was told.
    pub(crate) disputed: bool,
    /// How far its phases are: the rank of the last one.
    pub(crate) phase: Option<usize>,
    /// What relations keep of it.
    pub(super) cells: Vec<(usize, Cell)>,
    /// What is counted of what lies in it.
    counters: Vec<Counter>,
}

/// How many of a scope lie in something.
#[derive(Debug)]
struct Counter {
    scope: Scope,
    /// All, by the highest index.
    next: u64,
    open: usize,
}

/// What a relation keeps of an occurrence of its scope.
#[derive(Debug)]
pub(super) enum Cell {
    /// One value, as JSON.
    Value(Box<str>),
    /// Several, in order.
    Values(Vec<Box<str>>),
    /// Several, by their hash.
    Hashes(BTreeSet<u64>),
}

impl Cell {
    /// How much memory it takes, beside its own place.
    fn weight(&self) -> usize {
        match self {
            Self::Value(value) => value.len(),
            Self::Values(values) => {
                let texts: usize = values.iter().map(|value| value.len()).sum();
                texts + values.capacity() * size_of::<Box<str>>()
            }
            Self::Hashes(seen) => seen.len() * 2 * size_of::<u64>(),
        }
    }
}

impl Node {
    pub(super) fn new(scope: Scope, key: Key, state: State, parent: Option<usize>) -> Self {
        Self {
            number: 0,
            scope,
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
            fragments: 0,
            joined: String::new(),
            logprobs: Vec::new(),
            partial: false,
            disputed: false,
            has_gaps: false,
            phase: None,
            cells: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// Forgets what it was, but not the room that it took.
    fn empty(&mut self) {
        let Self {
            number: _, scope: _, key: _, state, parent: _, children, kind, id, opened, closed, ..
        } = self;
        children.recycle();
        kind.empty();
        id.empty();
        opened.empty();
        closed.empty();
        let Self { opening, closing, fragments, joined, logprobs, cells, counters, .. } = self;
        opening.empty();
        closing.empty();
        *fragments = 0;
        joined.recycle();
        logprobs.recycle();
        cells.recycle();
        counters.recycle();
        let Self { partial, has_gaps, disputed, phase, .. } = self;
        (*partial, *has_gaps, *disputed, *phase) = (false, false, false, None);
        *state = State::Gone;
    }

    /// The most that nodes take that an event makes, beside what they keep of it.
    pub(super) const MAX_WEIGHT: usize = 4 * Self::OWN;

    /// What one takes with its places in maps and lists, before it keeps anything.
    const OWN: usize = size_of::<Self>() + 256;

    /// How much memory it takes, or a little more.
    fn weight(&self) -> usize {
        let lists = self.children.capacity() * size_of::<usize>()
            + self.counters.capacity() * size_of::<Counter>()
            + self.cells.capacity() * size_of::<(usize, Cell)>()
            + self.logprobs.capacity() * size_of::<Box<str>>();
        let texts: usize = self.logprobs.iter().map(|list| list.len()).sum();
        let cells: usize = self.cells.iter().map(|(_, cell)| cell.weight()).sum();
        let words = [&self.kind, &self.id].into_iter().map(Reusable::weight).sum::<usize>();
        let marks = [&self.opened, &self.closed].into_iter().map(Reusable::weight).sum::<usize>();
        let values = [&self.opening, &self.closing].into_iter().map(Reusable::weight).sum::<usize>();
        Self::OWN + lists + texts + cells + words + marks + values + self.joined.capacity()
    }

    /// The `type` of what opened or closed it.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.kind.get().map(String::as_str)
    }

    /// The id of an item.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.get().map(String::as_str)
    }

    /// Takes the type and the id of the value that opens or closes it, unless they are known.
    pub(super) fn learn(&mut self, value: &Object<'_>) {
        if !self.kind.is_set()
            && let Some(kind) = value.string("type")
        {
            self.kind.write(&kind);
        }
        if !self.id.is_set()
            && self.scope == Scope::CONTAINER
            && let Some(id) = value.string("id")
        {
            self.id.write(&id);
        }
    }

    /// The index that its next child of a scope should have.
    pub(super) fn next_index(&self, scope: Scope) -> u64 {
        self.counted(scope).map_or(0, |counter| counter.next)
    }

    pub(super) fn count(&mut self, scope: Scope, index: u64) {
        let counter = self.counter(scope);
        counter.next = counter.next.max(index.saturating_add(1));
    }

    /// How many of a scope are open in it.
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

    /// How far it is.
    pub(crate) const fn state(&self) -> State {
        self.state
    }

    /// What people call it: `part 0 of item 1 (msg_1)`.
    pub(crate) fn name(&self, nodes: &Nodes) -> String {
        let own = self.scope.info().name.replace('_', " ");
        let parent = self.parent.and_then(|parent| nodes.get(parent));
        let has_own_index = self.scope.info().key.len() > parent.map_or(0, |it| it.scope.info().key.len());
        let mut name = match self.key.last().filter(|_| has_own_index) {
            Some(index) => format!("{own} {}", nodes.oddities.name(index)),
            None => own,
        };
        match parent.filter(|parent| parent.scope != Scope::ROOT) {
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

/// All occurrences of scopes in a stream that are still of interest.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// In boxes, so that they stay where they are when there are more.
    #[expect(clippy::vec_box, reason = "growing would copy the nodes, and need the room twice")]
    all: Vec<Box<Node>>,
    /// What stands where their indices should.
    oddities: Oddities,
    /// How many of them are of this stream; what is behind them is room that earlier ones took.
    used: usize,
    /// How many were ever added, in earlier streams, too.
    added: u64,
    /// Which of them are gone.
    free: Vec<usize>,
    by_key: BTreeMap<(Scope, Key), usize>,
    /// Items by their ids.
    by_id: BTreeMap<Box<str>, usize>,
    /// Calls by the ids by which their results are told, the first of each.
    by_call_id: BTreeMap<Box<str>, usize>,
    /// The one of each scope that was asked for last: most events are about the same as the one before.
    recent: Vec<Option<(Key, usize)>>,
}

/// Most streams have no more nodes at a time.
const FEW: usize = 8;

/// So many leave their room to the next stream.
const MANY: usize = 64;

impl Nodes {
    /// None, and room for a few.
    pub(super) fn new() -> Self {
        let mut nodes = Self::default();
        nodes.all.resize_with(FEW, || Box::new(Node::new(Scope::ROOT, Key::default(), State::Gone, None)));
        nodes.clear();
        nodes
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.all.truncate(MANY);
        for node in self.all.iter_mut().take(self.used).filter(|node| node.state != State::Gone) {
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

    /// A number as an index.
    #[inline]
    pub(super) fn index(&mut self, count: Count) -> Index {
        self.oddities.index(count)
    }

    /// An index as people write it.
    pub(super) fn index_name(&self, index: Index) -> String {
        self.oddities.name(index)
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Node> {
        self.all.get(at).map(|node| &**node).filter(|node| node.state != State::Gone)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Node> {
        self.all.get_mut(at).map(|node| &mut **node).filter(|node| node.state != State::Gone)
    }

    /// All of them, by their places.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Node)> {
        let all = self.all.iter().map(|node| &**node).enumerate();
        all.filter(|(_, node)| node.state != State::Gone)
    }

    /// How much memory they take, or a little more.
    pub(super) fn weight(&self) -> usize {
        self.numbered().map(|(_, node)| node.weight()).sum()
    }

    /// Not all that belongs to what is open is known any more.
    pub(super) fn mark_gap(&mut self) {
        for node in self.all.iter_mut().filter(|node| !matches!(node.state, State::Closed | State::Gone)) {
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

    /// How far a node is from now on.
    pub(super) fn set_state(&mut self, at: usize, state: State) {
        let Some(node) = self.get_mut(at) else { return };
        let before = std::mem::replace(&mut node.state, state);
        let (scope, parent) = (node.scope, node.parent);
        self.count_open(scope, parent, before, state);
    }

    fn count_open(&mut self, scope: Scope, parent: Option<usize>, before: State, state: State) {
        let (was_open, is_open) = (before == State::Open, state == State::Open);
        if was_open != is_open
            && let Some(parent) = parent.and_then(|parent| self.get_mut(parent))
        {
            let open = &mut parent.counter(scope).open;
            *open = if is_open { *open + 1 } else { open.saturating_sub(1) };
        }
    }

    /// From now on an item is found by its id, unless another one is.
    pub(super) fn name_item(&mut self, at: usize) {
        if let Some(id) = self.all.get(at).and_then(|node| node.id()) {
            name_first(&mut self.by_id, id, at);
        }
    }

    /// The first item that is a call of this id.
    pub(crate) fn call_named(&self, id: &str) -> Option<&Node> {
        self.get(*self.by_call_id.get(id)?)
    }

    /// From now on a call is found by its id, unless another one is.
    pub(super) fn name_call(&mut self, at: usize) {
        let Some(item) = self.all.get(at) else { return };
        if let Some(id) = item.opening.get().or(item.closing.get()).and_then(Object::call_id) {
            name_first(&mut self.by_call_id, id, at);
        }
    }

    /// Adds a node. One with the same key is found by its id only from then on.
    pub(super) fn add(&mut self, scope: Scope, key: Key, state: State, parent: Option<usize>) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        if at == self.all.len() {
            self.all.push(Box::new(Node::new(scope, key, state, parent)));
        }
        self.added += 1;
        if let Some(node) = self.all.get_mut(at) {
            (node.scope, node.key, node.state, node.parent) = (scope, key, state, parent);
            node.number = self.added;
        }
        self.by_key.insert((scope, key), at);
        self.recent[scope as usize] = Some((key, at));
        if let Some(parent) = parent.and_then(|parent| self.get_mut(parent)) {
            parent.children.push(at);
        }
        self.count_open(scope, parent, State::Implied, state);
        at
    }

    /// Forgets a node, and what lies in it and is not open any more.
    pub(super) fn forget_closed_below(&mut self, at: usize) {
        let Some(node) = self.get_mut(at) else { return };
        let mut children = std::mem::take(&mut node.children);
        children.retain(|child| {
            // What is not closed is still of interest, and so is what lies in it.
            if self.get(*child).is_some_and(|node| node.state == State::Open) {
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

/// A name is that of the first who has it.
fn name_first(names: &mut BTreeMap<Box<str>, usize>, name: &str, at: usize) {
    if !names.contains_key(name) {
        names.insert(name.into(), at);
    }
}

/// The slot that tells an occurrence of a scope from its siblings.
pub(super) fn own_slot(scope: Scope) -> Option<Slot> {
    let info = scope.info();
    let outer = info.parent.map_or(0, |parent| parent.info().key.len());
    info.key.get(outer).copied()
}
