//! Limits of how many nodes of a scope are open, and when.

use catalogue::Family;
use spec::table::{EventInfo, Scope};

use super::fault::closing_events;
use super::{Tracker, open_node, rank};
use crate::engine::node::{Node, NodeState};

/// Number of siblings, at each end, among which an open one is searched.
const FEW: usize = 64;

impl Tracker<'_, '_> {
    /// An exclusive node needs closed siblings, and the phase of the parent may forbid any.
    #[inline]
    pub(super) fn check_siblings(&mut self, node: usize) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        let (level, Some(parent)) = (found.level, found.parent) else { return };
        if level.exclusive {
            self.interleaved(node, level.scope, parent);
        }
        if let Some(until) = level.until {
            self.too_late(node, until, parent);
        }
    }

    #[inline(never)]
    fn interleaved(&mut self, node: usize, scope: Scope, parent: usize) {
        let nodes = &self.stream.nodes;
        let Some(around) = nodes.get(parent).filter(|around| around.open_within(scope) > 1) else { return };
        if !self.plan.protocol.scope_events(scope).closes {
            return;
        }
        let is_other = |at: &usize| {
            let other = nodes.get(*at);
            *at != node && other.is_some_and(|it| it.scope == scope && it.state() == NodeState::Open)
        };
        // There may be many, nearly all of them closed.
        let (first, last) = (around.children.iter().take(FEW), around.children.iter().rev().take(FEW));
        let open = first.chain(last).copied().find(is_other);
        let related = open.and_then(|open| self.related(open, |node| node.opened.get(), "was opened here"));
        let name = |at: usize| nodes.get(at).map(|node| self.stream.name(node));
        let (name, open) = (name(node).unwrap_or_default(), open.and_then(name));
        let expected = closing_events(self.plan.dialect(), scope);
        self.report((Family::Interleaved, scope, node), "", Some(&expected), related, || {
            format!("{name} is opened while {} is still open", open.as_deref().unwrap_or("another one"))
        });
    }

    #[inline(never)]
    fn too_late(&mut self, node: usize, until: &str, parent: usize) {
        let Some((found, around)) = self.stream.nodes.get(node).zip(self.stream.nodes.get(parent)) else {
            return;
        };
        if around.phase < Some(rank(around.level.phases, Some(until))) {
            return;
        }
        let (scope, name, outer) = (found.scope, self.stream.name(found), self.stream.name(around));
        let event = self.event_name();
        self.report((Family::PhaseOrder, scope, parent), "", Some("no such event any more"), None, || {
            format!("{event} opens {name}, but the {outer} is already {until}")
        });
    }

    pub(super) fn still_open_in_phase(&mut self, parent: usize, info: &EventInfo) {
        let Some(phase) = info.phase else { return };
        let plan = self.plan;
        let limits = |scope: &&Scope| {
            plan.api().scope(**scope).until == Some(phase) && plan.protocol.scope_events(**scope).closes
        };
        let limited: Vec<Scope> = plan.limited.iter().filter(limits).copied().collect();
        if limited.is_empty() || self.stream.has_gap {
            return;
        }
        let is_open = |node: &Node| limited.contains(&node.scope) && node.state() == NodeState::Open;
        let children =
            self.stream.nodes.get(parent).map(|parent| parent.children.clone()).unwrap_or_default();
        for child in children {
            let Some(node) = self.stream.nodes.get(child).filter(|node| is_open(node)) else { continue };
            let Some(open) = open_node(self.plan, self.stream, child, node) else { continue };
            let related = self.related(child, |node| node.opened.get(), "was opened here");
            let (event, name) = (self.event_name(), &open.name);
            self.findings.add(open.bound, self.record, &open.place(), related, &|| {
                format!("{event} was sent, but {name} was never closed")
            });
        }
    }
}
