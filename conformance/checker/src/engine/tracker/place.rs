//! Finds the node of an event.

use std::borrow::Cow;

use catalogue::Family;
use spec::Count;
use spec::table::{EventInfo, Role, Scope, Slot};

use super::Tracker;
use crate::engine::FaultPlace;
use crate::engine::index::Index;
use crate::engine::node::{Key, Node, NodeState};
use crate::engine::stream::RESPONSE;

impl<'r> Tracker<'_, 'r> {
    /// Creates the node if nothing opened it. `None` if the node is closed.
    pub(super) fn locate(&mut self, info: &'static EventInfo) -> Option<usize> {
        let scope = info.scope;
        let api = self.plan.api();
        let Some(parent) = info.level.parent.filter(|parent| *parent != api.root) else {
            if info.level.is_container {
                return self.item(info);
            }
            let node = self.plain_child(scope);
            return self.check_open(RESPONSE, Some(node), info).then_some(node);
        };
        let item = self.item_of_event()?;
        let mut key = Key::default();
        key.push(Index::new(item as u64));
        let mut lacking = None;
        for slot in info.level.key.iter().skip(1) {
            let count = self.record.view.count(*slot).unwrap_or_else(|| {
                lacking = Some(*slot);
                Count::Whole(self.missing_index(info, *slot, parent, key, item))
            });
            key.push(self.stream.nodes.index(count));
        }
        let parent = if parent == api.container { item } else { self.parent_of(parent, key, item)? };
        if info.role == Role::Point {
            if !self.check_open(parent, None, info) {
                return None;
            }
            self.count(scope, key, parent, true);
            self.wrong_kind(scope, parent);
            return Some(parent);
        }
        if let Some(node) = self.stream.nodes.find(scope, key) {
            self.doubt_index(node, lacking);
            return self.check_open(parent, Some(node), info).then_some(node);
        }
        if !self.check_open(parent, None, info) {
            return None;
        }
        let opens = info.role == Role::Open || !self.plan.protocol.scope_events(scope).opens;
        if !opens {
            self.before_open(scope, parent, key);
        }
        let state = if opens { NodeState::Open } else { NodeState::Implied };
        self.count(scope, key, parent, opens);
        let is_partial = self.stream.resumed && self.is_implied(parent);
        let node = self.stream.nodes.add(info.level, key, state, Some(parent));
        self.set_partial(node, is_partial);
        self.doubt_index(node, lacking);
        if info.role != Role::Open {
            self.wrong_parent(node);
            if opens {
                self.check_siblings(node);
            }
        }
        Some(node)
    }

    /// In a list, each entry has its own index: the next one opens, and others belong to the last one. So it is without any
    /// index.
    fn missing_index(&mut self, info: &EventInfo, slot: Slot, parent: Scope, key: Key, item: usize) -> u64 {
        let api = self.plan.api();
        let pointer = self.plan.dialect().pointer(slot);
        if !pointer.is_empty() && !pointer.contains("/*") {
            return 0;
        }
        let holder = |scope: &Scope| api.scope(*scope).own_index == Some(slot);
        let scope = api.with_parents(info.scope).find(holder).unwrap_or(info.scope);
        let around = api.scope(scope).parent.filter(|around| *around != api.container && *around != parent);
        let node = around.map_or(Some(item), |around| self.stream.nodes.find(around, key));
        let next = node.and_then(|node| self.stream.nodes.get(node)).map_or(0, |node| node.next_index(scope));
        if info.role == Role::Open { next } else { next.saturating_sub(1) }
    }

    /// The index is in doubt if it was guessed although the schema requires it.
    fn doubt_index(&mut self, node: usize, lacking: Option<Slot>) {
        if let Some(slot) = lacking {
            let finding = self.findings.lacking(self.plan.dialect().member(slot));
            self.note_doubt(node, finding);
        }
    }

    /// A response has one node of a scope without indices.
    pub(super) fn plain_child(&mut self, scope: Scope) -> usize {
        let level = self.plan.api().scope(scope);
        self.stream
            .nodes
            .find(scope, Key::default())
            .unwrap_or_else(|| self.stream.nodes.add(level, Key::default(), NodeState::Open, Some(RESPONSE)))
    }

    pub(super) fn parent_of(&mut self, parent: Scope, key: Key, item: usize) -> Option<usize> {
        let level = self.plan.api().scope(parent);
        let key = key.first(level.key.len());
        if let Some(found) = self.stream.nodes.find(parent, key) {
            return Some(found);
        }
        let outer = level.parent.filter(|outer| *outer != self.plan.api().container);
        let item = outer.map_or(Some(item), |outer| self.parent_of(outer, key, item))?;
        if self.stream.nodes.get(item)?.state() == NodeState::Closed {
            self.after_close(item, false);
            return None;
        }
        let opens = self.plan.protocol.scope_events(parent).opens;
        if opens {
            self.before_open(parent, item, key);
        }
        self.count(parent, key, item, false);
        let state = if opens { NodeState::Implied } else { NodeState::Open };
        let node = self.stream.nodes.add(level, key, state, Some(item));
        self.set_partial(node, self.stream.resumed);
        Some(node)
    }

    fn set_partial(&mut self, node: usize, is_partial: bool) {
        if let Some(node) = self.stream.nodes.get_mut(node) {
            node.partial = is_partial;
        }
    }

    pub(super) fn item(&mut self, info: &'static EventInfo) -> Option<usize> {
        let api = self.plan.api();
        let id = self.value_string("id");
        let index = self.container_index();
        if info.role != Role::Open {
            let item = self.item_at(index, id.as_deref())?;
            return self.check_open(RESPONSE, Some(item), info).then_some(item);
        }
        let mut key = Key::default();
        let mut shared = None;
        let next = self.stream.nodes.get(RESPONSE).map_or(0, |response| response.next_index(api.container));
        key.push(index.unwrap_or(Index::new(next)));
        if let Some(there) = self.stream.nodes.find(api.container, key) {
            let found = self.stream.nodes.get(there)?;
            if found.state() == NodeState::Implied {
                let unopened = found.unopened.as_deref();
                let other = unopened.filter(|(_, addressed)| Some(&**addressed) != id.as_deref());
                let finding = other.map(|(finding, _)| *finding);
                self.note_doubt(there, finding);
                return Some(there);
            }
            // Closing before opening was reported.
            found.opened.get()?;
            let related = self.related(there, |node| node.opened.get(), "the first was added here");
            let index = self.stream.nodes.index_name(key.last().unwrap_or_default());
            let (member, pointer) = self.member(api.index);
            let (expected, noun) = (format!("a new {member}"), api.scope(api.container).noun());
            let at = (Family::Reopened, api.container, there);
            let finding = self.report(at, &pointer, Some(&expected), related, || {
                format!("a second {noun} is added at {member} {index}")
            });
            shared = finding;
            let has_same_id = self.stream.nodes.get(there)?.id() == id.as_deref();
            if has_same_id {
                return None;
            }
            self.note_doubt(there, finding);
        } else {
            self.count(api.container, key, RESPONSE, true);
        }
        let item = self.stream.nodes.add(api.scope(api.container), key, NodeState::Open, Some(RESPONSE));
        self.note_doubt(item, shared);
        self.stream.items.push(item);
        Some(item)
    }

    fn value_string(&self, name: &str) -> Option<Cow<'r, str>> {
        let raw = self.record.view.raw(Slot::Value)?;
        spec::json::string(raw.get(self.value.as_ref()?.place(name)?)?)
    }

    fn container_index(&mut self) -> Option<Index> {
        let api = self.plan.api();
        let count = self.record.view.count(api.index)?;
        Some(self.stream.nodes.index(count))
    }

    fn member(&self, slot: Slot) -> (&'static str, String) {
        let dialect = self.plan.dialect();
        (dialect.member(slot), self.record.filled(dialect.pointer(slot)).into_owned())
    }

    pub(super) fn item_of_event(&mut self) -> Option<usize> {
        let api = self.plan.api();
        let index = self.container_index();
        let id = api.id.and_then(|slot| self.record.view.string(slot));
        let id = id.map(|id| if id.escaped { spec::json::decode(id.raw).0 } else { id.raw.into() });
        self.item_at(index, id.as_deref())
    }

    pub(super) fn item_at(&mut self, index: Option<Index>, id: Option<&str>) -> Option<usize> {
        let api = self.plan.api();
        let mut key = Key::default();
        if let Some(index) = index {
            key.push(index);
        }
        let there = index.and_then(|_| self.stream.nodes.find(api.container, key));
        // An item whose own id is empty is reported once, where it is added.
        let is_named =
            || there.is_some_and(|at| self.stream.nodes.get(at).is_some_and(|node| node.id().is_some()));
        let Some(id) = id.filter(|id| !id.is_empty() || is_named()) else {
            // An event without a reference to an item can only belong to the last one.
            let last = || self.stream.items.last().copied().filter(|_| index.is_none());
            return there.or_else(last).or_else(|| Some(self.implied_item(index, None)));
        };
        if let Some(at) = there
            && self.stream.nodes.get(at)?.id() == Some(id)
        {
            return there;
        }
        if let Some(named) = self.stream.nodes.item_named(id) {
            let known = self.stream.nodes.get(named)?.key.last();
            if index.is_some_and(|index| Some(index) != known) {
                let name = |index: Option<Index>| self.stream.nodes.index_name(index.unwrap_or_default());
                let (index, known) = (name(index), name(known));
                let related = self.related(named, |node| node.opened.get(), "was added here");
                let (member, pointer) = self.member(api.index);
                let noun = api.scope(api.container).noun();
                let at = (Family::KeyMismatch, api.container, named);
                self.report(at, &pointer, Some(&known), related, || {
                    format!("{noun} {id} was added at {member} {known}, but this event has {index}")
                });
            }
            return Some(named);
        }
        let Some(at) = there else { return Some(self.implied_item(index, Some(id))) };
        let node = self.stream.nodes.get(at)?;
        let closes_item = self.record.known.is_some_and(|(_, info)| info.level.is_container);
        if let Some(known) = node.id().map(str::to_owned)
            && !closes_item
        {
            let index = self.stream.nodes.index_name(index.unwrap_or_default());
            let related = self.related(at, |node| node.opened.get(), "was added here");
            let hint = self.stream.known_as(id).map(|what| format!(", {what}")).unwrap_or_default();
            let Some(bound) = self.plan.structural(Family::KeyMismatch, api.container) else {
                return Some(at);
            };
            let (expected, actual) = (format!("\"{known}\""), format!("\"{id}\""));
            let pointer = api.id.map(|slot| self.member(slot).1);
            let (member, _) = self.member(api.index);
            let noun = api.scope(api.container).noun();
            let place = FaultPlace {
                pointer: pointer.as_deref(),
                expected: Some(&expected),
                actual: Some(&actual),
                follows: self.doubt(Family::KeyMismatch, at),
                ..FaultPlace::WHOLE
            };
            self.findings.add(bound, self.record, &place, related, &|| {
                let has = if id.is_empty() { "an empty id" } else { id };
                format!("the {noun} at {member} {index} is {known}, but this event has {has}{hint}")
            });
        }
        Some(at)
    }

    pub(super) fn implied_item(&mut self, index: Option<Index>, id: Option<&str>) -> usize {
        let api = self.plan.api();
        let mut key = Key::default();
        let next = self.stream.nodes.get(RESPONSE).map_or(0, |response| response.next_index(api.container));
        key.push(index.unwrap_or(Index::new(next)));
        if let Some(found) = self.stream.nodes.find(api.container, key) {
            return found;
        }
        let opens = self.plan.protocol.scope_events(api.container).opens;
        let finding = if opens { self.before_open(api.container, RESPONSE, key) } else { None };
        // Without an event that opens it, the first one of it does.
        self.count(api.container, key, RESPONSE, !opens);
        let state = if opens { NodeState::Implied } else { NodeState::Open };
        let item = self.stream.nodes.add(api.scope(api.container), key, state, Some(RESPONSE));
        if let Some(node) = self.stream.nodes.get_mut(item) {
            node.unopened = finding.zip(id).map(|(finding, id)| Box::new((finding, id.to_owned())));
            if !opens {
                node.opened.note(self.record);
            }
        }
        self.stream.items.push(item);
        if !opens {
            self.check_siblings(item);
        }
        item
    }

    pub(super) fn is_implied(&self, node: usize) -> bool {
        self.stream.nodes.get(node).is_some_and(|node| node.state() == NodeState::Implied)
    }

    pub(super) fn check_open(&mut self, parent: usize, node: Option<usize>, info: &EventInfo) -> bool {
        let closes = info.ends_scope();
        let state = |at: usize| self.stream.nodes.get(at).map(Node::state);
        if let Some(node) = node {
            match state(node) {
                Some(NodeState::Closed) if info.role == Role::Open => {
                    self.reopened(node);
                    return false;
                }
                Some(NodeState::Closed) => {
                    let is_early =
                        self.stream.nodes.get_mut(node).is_some_and(|it| closes && it.take_early_close());
                    if !(is_early || closes && self.may_close_again(info)) {
                        self.after_close(node, closes);
                    }
                    return false;
                }
                Some(NodeState::Open) if info.role == Role::Open && !info.level.is_container => {
                    self.reopened(node);
                    return false;
                }
                _ => {}
            }
        }
        let Some(around) = self.closed_above(parent) else { return true };
        if let Some(node) = node.filter(|node| closes && state(*node) == Some(NodeState::Open)) {
            self.parent_closed_first(node, around);
            return true;
        }
        self.after_close(around, false);
        false
    }

    /// An entry of a list may repeat the value that closes its scope.
    pub(super) fn may_close_again(&self, info: &EventInfo) -> bool {
        let Some(((entry, _), again)) = self.record.entry().zip(info.level.again) else { return false };
        let name = again.bytes().rposition(|byte| byte == b'/').map_or(again, |slash| &again[slash + 1..]);
        self.record.may_have(entry, name) && spec::json::at(entry, again).is_some_and(|it| it != "null")
    }

    pub(super) fn closed_above(&self, from: usize) -> Option<usize> {
        let mut at = Some(from);
        while let Some(here) = at.filter(|at| *at != RESPONSE) {
            let node = self.stream.nodes.get(here)?;
            if node.state() == NodeState::Closed {
                return Some(here);
            }
            at = node.parent;
        }
        None
    }

    /// The child must have the next index.
    pub(super) fn count(&mut self, scope: Scope, key: Key, parent: usize, opens: bool) {
        // Another rule reports numbers that are not indices.
        let level = self.plan.api().scope(scope);
        let (Some(slot), Some(index)) = (level.own_index, key.entry()) else { return };
        // The schema requires the index, if there is one.
        if slot != self.plan.api().index
            && self.record.view.raw(slot).is_none()
            && !self.plan.dialect().pointer(slot).is_empty()
        {
            return;
        }
        let Some(found) = self.stream.nodes.get_mut(parent) else { return };
        let next = found.next_index(scope);
        found.count(scope, index);
        let unknown =
            self.stream.resumed || self.stream.has_gap || parent != RESPONSE && self.is_implied(parent);
        if index == next || !opens || unknown {
            return;
        }
        if let Some(found) = self.stream.nodes.get_mut(parent) {
            found.has_gaps = true;
        }
        let what = level.noun();
        let (_, pointer) = self.member(slot);
        self.report((Family::IndexGap, scope, parent), &pointer, Some(&next.to_string()), None, || {
            format!("the {what} has index {index}, but the next one is {next}")
        });
    }
}
