//! What is open in a stream.

use std::collections::BTreeMap;

use spec::table::{Scope, Slot};

use super::spot::Mark;
use super::view::Object;

/// Which of its siblings an occurrence of a scope is: its indices, the outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Key {
    indices: [u64; Key::MOST],
    length: u8,
}

impl Key {
    const MOST: usize = 3;

    pub(super) fn push(&mut self, index: u64) {
        if let Some(place) = self.indices.get_mut(usize::from(self.length)) {
            *place = index;
            self.length += 1;
        }
    }

    /// The same for a scope further out.
    pub(super) fn first(mut self, length: usize) -> Self {
        for index in self.indices.iter_mut().skip(length) {
            *index = 0;
        }
        self.length = self.length.min(u8::try_from(length).unwrap_or(u8::MAX));
        self
    }

    pub(crate) fn indices(&self) -> &[u64] {
        &self.indices[..usize::from(self.length)]
    }

    pub(crate) fn last(&self) -> Option<u64> {
        self.indices().last().copied()
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
}

/// One occurrence of a scope: an item, a part, a text.
#[derive(Debug)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) scope: Scope,
    /// Which one.
    pub(crate) key: Key,
    /// How far it is.
    pub(crate) state: State,
    /// What it lies in.
    pub(crate) parent: Option<usize>,
    /// What lies in it, as far as that is still of interest.
    pub(crate) children: Vec<usize>,
    kind: Option<Box<str>>,
    id: Option<Box<str>>,
    /// Where it was opened.
    pub(crate) opened: Option<Mark>,
    /// Where it was closed.
    pub(crate) closed: Option<Mark>,
    /// The value that opened it.
    pub(crate) opening: Option<Box<Object<'static>>>,
    /// The value that closed it; for a text, its final value.
    pub(crate) closing: Option<Box<Object<'static>>>,
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
    /// How many siblings of each scope lie in it, by the highest index.
    counters: Vec<(Scope, u64)>,
}

/// What a relation keeps of an occurrence of its scope.
#[derive(Debug)]
pub(super) enum Cell {
    /// One value, as JSON.
    Value(Box<str>),
    /// Several, in order.
    Values(Vec<Box<str>>),
    /// Several, by their hash.
    Hashes(std::collections::HashSet<u64>),
}

impl Node {
    pub(super) fn new(scope: Scope, key: Key, state: State, parent: Option<usize>) -> Self {
        Self {
            scope,
            key,
            state,
            parent,
            children: Vec::new(),
            kind: None,
            id: None,
            opened: None,
            closed: None,
            opening: None,
            closing: None,
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

    /// The `type` of what opened or closed it.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The id of an item.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Takes the type and the id of the value that opens or closes it, unless they are known.
    pub(super) fn learn(&mut self, value: &Object<'_>) {
        if self.kind.is_none() {
            self.kind = value.string("type").map(Into::into);
        }
        if self.id.is_none() && self.scope == Scope::Item {
            self.id = value.string("id").map(Into::into);
        }
    }

    /// The index that its next child of a scope should have.
    pub(super) fn next_index(&self, scope: Scope) -> u64 {
        self.counters.iter().find(|(of, _)| *of == scope).map_or(0, |(_, next)| *next)
    }

    pub(super) fn count(&mut self, scope: Scope, index: u64) {
        let next = index.saturating_add(1);
        match self.counters.iter_mut().find(|(of, _)| *of == scope) {
            Some((_, known)) => *known = next.max(*known),
            None => self.counters.push((scope, next)),
        }
    }

    /// What people call it: `part 0 of item 1 (msg_1)`.
    pub(crate) fn name(&self, nodes: &Nodes) -> String {
        let own = self.scope.info().name.replace('_', " ");
        let parent = self.parent.and_then(|parent| nodes.get(parent));
        let has_own_index = self.scope.info().key.len() > parent.map_or(0, |it| it.scope.info().key.len());
        let mut name = match self.key.last().filter(|_| has_own_index) {
            Some(index) => format!("{own} {index}"),
            None => own,
        };
        match parent.filter(|parent| parent.scope != Scope::Response) {
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
    all: Vec<Option<Node>>,
    free: Vec<usize>,
    by_key: BTreeMap<(Scope, Key), usize>,
    /// Items by their ids.
    by_id: BTreeMap<Box<str>, usize>,
    /// The one of each scope that was asked for last: most events are about the same as the one before.
    recent: Vec<Option<(Key, usize)>>,
}

/// Most streams have no more nodes at a time.
const FEW: usize = 8;

impl Nodes {
    /// None, and room for a few.
    pub(super) fn new() -> Self {
        let mut nodes = Self::default();
        nodes.all.reserve(FEW);
        nodes.clear();
        nodes
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
        self.by_key.clear();
        self.by_id.clear();
        self.recent.clear();
        self.recent.resize(Scope::ALL.len(), None);
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Node> {
        self.all.get(at)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Node> {
        self.all.get_mut(at)?.as_mut()
    }

    /// All of them, by their places.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.all.iter().enumerate().filter_map(|(at, node)| Some((at, node.as_ref()?)))
    }

    /// Not all that belongs to what is open is known any more.
    pub(super) fn tear(&mut self) {
        for node in self.all.iter_mut().flatten().filter(|node| node.state != State::Closed) {
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

    pub(super) fn name_item(&mut self, id: &str, at: usize) {
        self.by_id.entry(id.into()).or_insert(at);
    }

    /// Adds a node. One with the same key is found by its id only from then on.
    pub(super) fn add(&mut self, node: Node) -> usize {
        let (scope, key, parent) = (node.scope, node.key, node.parent);
        let at = if let Some(at) = self.free.pop() {
            self.all[at] = Some(node);
            at
        } else {
            self.all.push(Some(node));
            self.all.len() - 1
        };
        self.by_key.insert((scope, key), at);
        self.recent[scope as usize] = Some((key, at));
        if let Some(parent) = parent.and_then(|parent| self.get_mut(parent)) {
            parent.children.push(at);
        }
        at
    }

    /// Forgets a node, and what lies in it and is not open any more.
    pub(super) fn forget_closed_below(&mut self, at: usize) {
        let Some(node) = self.get_mut(at) else { return };
        let children = std::mem::take(&mut node.children);
        let mut kept = Vec::new();
        for child in children {
            // What is not closed is still of interest, and so is what lies in it.
            if self.get(child).is_some_and(|node| node.state == State::Open) {
                kept.push(child);
                continue;
            }
            self.forget_closed_below(child);
            let is_done = |node: &Node| node.children.is_empty();
            if self.get(child).is_some_and(is_done) { self.remove(child) } else { kept.push(child) }
        }
        if let Some(node) = self.get_mut(at) {
            node.children = kept;
        }
    }

    fn remove(&mut self, at: usize) {
        let Some(node) = self.all[at].take() else { return };
        if self.by_key.get(&(node.scope, node.key)) == Some(&at) {
            self.by_key.remove(&(node.scope, node.key));
        }
        self.recent[node.scope as usize] = None;
        self.free.push(at);
    }
}

/// The slot that tells an occurrence of a scope from its siblings.
pub(super) fn own_slot(scope: Scope) -> Option<Slot> {
    let info = scope.info();
    let outer = info.parent.map_or(0, |parent| parent.info().key.len());
    info.key.get(outer).copied()
}
