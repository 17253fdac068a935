//! The next steps that a stream allows.

use std::collections::BTreeMap;

use spec::table::{EventInfo, Role, Scope, ScopeInfo};

use crate::bounds::Bounds;
use crate::grammar::Grammar;
use crate::step::{Key, Move, Nesting, Step};

/// A stream after some events.
#[derive(Debug, Clone)]
pub struct StreamState<'g> {
    grammar: &'g Grammar,
    /// The occurrences of scopes, in the order of their beginnings; the first is the root.
    nodes: Vec<Node>,
    /// Number of points before the root has begun.
    early: u64,
    has_failed: bool,
}

/// The facts that decide how a stream may go on: the occurrences, whether anything came before the root, and whether it
/// has failed.
pub(crate) type Settled = (Vec<Node>, u64, bool);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    scope: Scope,
    key: Key,
    kind: Option<&'static str>,
    is_closed: bool,
    /// Number of its deltas or points.
    fragments: u64,
    /// Number of its phases that have begun.
    phases: usize,
}

impl Grammar {
    /// Returns whether a stream is legal, and if it is not, the event at fault; none if that is its end.
    pub fn accepts(&self, moves: &[Move]) -> Result<(), Option<usize>> {
        let mut state = StreamState::new(self);
        for (at, steps) in moves.iter().enumerate() {
            // The effects of one event take place at once, in any order.
            let mut left = steps.clone();
            while !left.is_empty() {
                let next = left.iter().position(|step| state.allows(step)).ok_or(Some(at))?;
                state.take(&left.remove(next));
            }
        }
        if state.may_end() { Ok(()) } else { Err(None) }
    }
}

impl<'g> StreamState<'g> {
    /// Returns the state before the first event.
    pub const fn new(grammar: &'g Grammar) -> Self {
        Self { grammar, nodes: Vec::new(), early: 0, has_failed: false }
    }

    /// Returns whether the stream may end here.
    pub fn may_end(&self) -> bool {
        let api = self.grammar.dialect.api;
        let Some(root) = self.nodes.first() else { return self.has_failed };
        root.is_closed
            || self.has_failed && !self.fails_with_an_event()
            || api.marker_ends && self.is_done(root)
    }

    /// A lower bound of the number of events until the stream may end.
    pub(crate) fn least(&self) -> usize {
        let is_open = |node: &&Node| !node.is_closed && self.grammar.ends(node.scope);
        let open = self.nodes.iter().filter(is_open).count();
        if self.nodes.is_empty() {
            1
        } else if self.has_failed {
            usize::from(!self.may_end())
        } else {
            open
        }
    }

    /// Drops counts and ended occurrences to keep the state space small.
    pub(crate) fn settle(&mut self) -> Settled {
        self.early = self.early.min(1);
        let api = self.grammar.dialect.api;
        let nodes = std::mem::take(&mut self.nodes);
        let is_over = |node: &Node| {
            let is_around = |other: &&Node| {
                let length = self.grammar.level(other.scope).key.len();
                other.is_closed
                    && api.with_parents(node.scope).skip(1).any(|scope| scope == other.scope)
                    && node.key.shortened(length) == other.key
            };
            nodes.iter().any(|other| is_around(&other))
        };
        self.nodes = nodes.iter().filter(|node| !is_over(node)).cloned().collect();
        for node in &mut self.nodes {
            node.fragments = if node.is_closed { 0 } else { node.fragments.min(1) };
        }
        (self.nodes.clone(), self.early, self.has_failed)
    }

    /// Returns the steps that may come next, within the bounds.
    pub fn steps(&self, bounds: &Bounds) -> Vec<Step> {
        self.steps_of(bounds, |_| true)
    }

    pub(crate) fn steps_of(&self, bounds: &Bounds, is_meant: impl Fn(&Step) -> bool) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut keys = BTreeMap::new();
        for effect in &self.grammar.effects {
            for key in keys.entry(effect.scope).or_insert_with(|| self.keys(effect.scope)).iter().copied() {
                for kind in self.kinds(effect, key) {
                    let step = Step { effect, key, kind };
                    if is_meant(&step) && self.allows(&step) && self.is_within(&step, bounds) {
                        steps.push(step);
                    }
                }
            }
        }
        steps
    }

    /// The steps of an event are allowed one after the other.
    pub(crate) fn take_all(&mut self, steps: &[Step]) {
        for step in steps {
            self.take(step);
        }
    }

    /// Takes a step that is allowed.
    pub fn take(&mut self, step: &Step) {
        if step.effect.name == self.grammar.dialect.error {
            self.has_failed = true;
            return;
        }
        if self.is_early(step.effect) {
            self.early += 1;
            return;
        }
        let at = self.ensure(step.effect.scope, step.key);
        let repeatable = step.effect.level.repeatable;
        let phase = step.effect.phase.filter(|phase| !repeatable.contains(phase));
        let opens = self.grammar.opens(step.effect.scope);
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.kind = node.kind.or(step.kind);
        match step.effect.role {
            Role::Open => {}
            Role::Delta => node.fragments += 1,
            Role::Point => {
                node.fragments += 1;
                node.is_closed = step.effect.level.own_index.is_some() && !opens;
            }
            Role::Final | Role::Close | Role::Terminal => node.is_closed = true,
            Role::Phase => {
                let rank =
                    step.effect.level.phases.iter().position(|known| Some(*known) == step.effect.phase);
                node.phases = rank.map_or(node.phases, |rank| rank + 1);
                node.is_closed = phase.is_some() && step.effect.ends_scope();
            }
        }
    }

    /// Returns whether a step may come next.
    pub fn allows(&self, step: &Step) -> bool {
        let effect = step.effect;
        if self.may_end() && !self.grammar.dialect.api.marker_ends {
            return false;
        }
        if effect.name == self.grammar.dialect.error {
            return !self.has_failed && (effect.early || !self.nodes.is_empty());
        }
        if self.has_failed {
            return self.is_failure(effect);
        }
        let node = self.find(effect.scope, step.key);
        if node.is_some_and(|node| node.is_closed) || !self.is_placed(step, node) || !self.is_in_order(step) {
            return false;
        }
        match (effect.role, node) {
            (Role::Open, Some(_)) | (Role::Terminal, None) => false,
            (Role::Open, None) => self.may_open(step),
            (Role::Delta | Role::Point, _) => true,
            (Role::Final, _) => node.is_some_and(|node| node.fragments > 0) || !self.needs_text(effect.scope),
            (Role::Close, _) => node.is_some_and(|node| {
                self.is_done(node) && self.grammar.templates.has_value(effect, node.kind)
            }),
            (Role::Phase, node) => {
                self.may_begin(effect, node) && (!effect.level.is_root || self.may_conclude(effect))
            }
            (Role::Terminal, Some(root)) => self.is_failure(effect) || self.is_done(root),
        }
    }

    fn is_within(&self, step: &Step, bounds: &Bounds) -> bool {
        let Step { effect, key, kind } = *step;
        let node = self.find(effect.scope, key);
        let level = effect.level;
        let is_beyond = |scope: Scope| {
            let around = self.grammar.level(scope);
            let most = if around.is_container { bounds.containers } else { bounds.siblings };
            let last = key.shortened(around.key.len()).indices().last().copied();
            around.own_index.is_some() && last.is_some_and(|index| index >= most)
        };
        if self.grammar.dialect.api.with_parents(effect.scope).any(is_beyond) {
            return false;
        }
        let is_new = node.is_none() && level.own_index.is_some();
        if kind
            .is_some_and(|kind| !bounds.kinds.is_empty() && !bounds.kinds.iter().any(|known| known == kind))
        {
            return false;
        }
        let is_alone = |node: &&Node| node.scope == effect.scope && !node.is_closed && node.key != key;
        if is_new
            && !(level.is_container && bounds.interleaved)
            && self.nodes.iter().any(|node| is_alone(&node))
        {
            return false;
        }
        let fragments = node.map_or(self.early, |node| node.fragments);
        match effect.role {
            _ if effect.name == self.grammar.dialect.error => bounds.points > 0,
            Role::Delta => fragments < bounds.fragments,
            Role::Point => fragments < bounds.points,
            _ => true,
        }
    }

    fn is_placed(&self, step: &Step, node: Option<&Node>) -> bool {
        let level = step.effect.level;
        if node.is_none() && step.effect.role != Role::Open && self.grammar.opens(level.scope) {
            return self.is_early(step.effect);
        }
        let around = self.grammar.dialect.api.with_parents(level.scope).skip(1);
        let is_open = |scope: Scope| {
            let node = self.find(scope, step.key.shortened(self.grammar.level(scope).key.len()));
            node.map_or(!self.grammar.opens(scope), |node| !node.is_closed)
        };
        let is_next = node.is_some() || level.own_index.is_none() || self.is_next(level, step.key);
        is_next && around.into_iter().all(is_open) && self.fits(level, step.key)
    }

    fn is_next(&self, level: &ScopeInfo, key: Key) -> bool {
        let around = key.shortened(key.indices().len().saturating_sub(1));
        self.count(level.scope, around) == key.indices().last().copied().unwrap_or_default()
    }

    fn count(&self, scope: Scope, around: Key) -> u64 {
        let is_in =
            |node: &&Node| node.scope == scope && node.key.shortened(around.indices().len()) == around;
        self.nodes.iter().filter(is_in).count() as u64
    }

    /// The occurrences around can contain one of the scope.
    fn fits(&self, level: &ScopeInfo, key: Key) -> bool {
        let outer = self.grammar.around(level.scope, key);
        let around = outer.and_then(|(scope, key)| self.find(scope, key));
        around.is_none_or(|around| level.can_be_in(around.kind))
    }

    /// Scopes that come first have come, and none that comes last.
    fn is_in_order(&self, step: &Step) -> bool {
        let api = self.grammar.dialect.api;
        let (first, last) = (api.order.first, api.order.last);
        let level = step.effect.level;
        let root = self.root_level();
        let phases = self.nodes.first().map_or(0, |root| root.phases);
        let is_to_come = |names: &[&str]| {
            let begins = |phase: &str| self.grammar.effects.iter().any(|effect| effect.phase == Some(phase));
            root.phases.iter().skip(phases).any(|phase| names.contains(phase) && begins(phase))
        };
        if level.is_root {
            let is_needed = |names: &&[&str]| is_to_come(names);
            return step.effect.role != Role::Terminal
                || self.is_failure(step.effect)
                || !is_to_come(first) && !api.order.needed.iter().any(is_needed);
        }
        let has_led = !is_to_come(first);
        let is_in_order_at = |scope: Scope| {
            let inner = self.grammar.level(scope);
            let Some((outer, key)) = self.grammar.around(scope, step.key) else { return has_led };
            let node = self.find(outer, key);
            let has = |name: &str| {
                node.is_some_and(|node| {
                    self.children(node).any(|child| self.grammar.level(child.scope).name == name)
                })
            };
            let leads = |level: &ScopeInfo| level.parent == Some(outer) && first.contains(&level.name);
            let is_led =
                first.contains(&inner.name) || !api.scopes().any(|level| leads(level) && !has(level.name));
            let is_late = last.contains(&inner.name);
            let is_rest_done = |node: &Node| self.has_needed(node, inner.name) && self.is_rest_over(node);
            is_led
                && !node.is_some_and(|node| self.is_behind(inner, node))
                && !last.iter().any(|name| has(name))
                && (!is_late || node.is_some_and(is_rest_done))
        };
        api.with_parents(level.scope).all(is_in_order_at)
    }

    /// A scope that has to come later has already come.
    fn is_behind(&self, level: &ScopeInfo, around: &Node) -> bool {
        let order = self.grammar.dialect.api.order;
        let Some((_, limit)) = order.before.iter().find(|(name, _)| *name == level.name) else {
            return false;
        };
        self.children(around).any(|child| {
            let other = self.grammar.level(child.scope);
            let phase = other.phases.iter().position(|phase| phase == limit);
            other.name == *limit && child.is_closed || phase.is_some_and(|phase| child.phases > phase)
        })
    }

    /// A phase that every response has states that the output is complete.
    fn may_conclude(&self, effect: &EventInfo) -> bool {
        let needed = self.grammar.dialect.api.order.needed;
        let is_last = needed.iter().flat_map(|names| names.iter()).any(|name| Some(*name) == effect.phase);
        !is_last || self.nodes.first().is_some_and(|root| self.has_needed(root, ""))
    }

    fn may_open(&self, step: &Step) -> bool {
        let level = step.effect.level;
        let is_sibling = |node: &&Node| node.scope == level.scope && !node.is_closed;
        if level.exclusive && self.nodes.iter().any(|node| is_sibling(&node)) {
            return false;
        }
        if let Some(answered) = self.grammar.answered(step.kind)
            && self.unanswered(answered) == Some(0)
        {
            return false;
        }
        let root = self.nodes.first();
        let rank = |phase| self.root_level().phases.iter().position(|known| *known == phase);
        level.until.and_then(rank).is_none_or(|rank| root.is_none_or(|root| root.phases <= rank))
    }

    /// `None` if the stream before may have left some.
    fn unanswered(&self, kind: &str) -> Option<usize> {
        let containers = self.nodes.iter().filter(|node| node.scope == self.grammar.dialect.api.container);
        let mut rest = containers.skip_while(|node| self.grammar.answered(node.kind).is_some()).peekable();
        rest.peek()?;
        let count = |count: usize, node: &Node| match node.kind {
            of if of == Some(kind) => count + 1,
            of if self.grammar.answered(of) == Some(kind) => count.saturating_sub(1),
            _ => count,
        };
        Some(rest.fold(0, count))
    }

    fn may_begin(&self, effect: &EventInfo, node: Option<&Node>) -> bool {
        let begun = node.map_or(0, |node| node.phases);
        let phase = effect.phase.unwrap_or_default();
        let level = effect.level;
        if level.is_root && node.is_none() {
            return false;
        }
        if effect.ends_scope() {
            return begun == level.phases.len();
        }
        let rank = level.phases.iter().position(|known| *known == phase).unwrap_or_default();
        let is_limit = |node: &&Node| !node.is_closed && self.grammar.level(node.scope).until == Some(phase);
        if self.nodes.iter().any(|node| is_limit(&node)) {
            return false;
        }
        let repeats = level.repeatable.contains(&phase) && begun == rank + 1;
        repeats || if level.is_root { rank >= begun } else { rank == begun }
    }

    fn is_done(&self, node: &Node) -> bool {
        self.has_needed(node, "") && self.is_rest_over(node)
    }

    fn is_rest_over(&self, node: &Node) -> bool {
        self.children(node)
            .all(|child| if self.grammar.ends(child.scope) { child.is_closed } else { self.is_done(child) })
    }

    /// A scope that is about to come counts as if it had come.
    fn has_needed(&self, node: &Node, coming: &str) -> bool {
        let mut lists = self.grammar.dialect.api.order.needed.iter();
        lists.all(|list| list.contains(&coming) || self.has_one(node, list))
    }

    /// An occurrence that cannot have any of the scopes needs none.
    fn has_one(&self, node: &Node, names: &[&str]) -> bool {
        let can_have = |name: &&str| {
            let fits = |level: &ScopeInfo| {
                level.name == *name && level.parent == Some(node.scope) && level.can_be_in(node.kind)
            };
            self.grammar.dialect.api.scopes().any(fits)
        };
        let has = |name: &str| self.children(node).any(|child| self.grammar.level(child.scope).name == name);
        !names.iter().any(can_have) || names.iter().any(|name| has(name))
    }

    fn needs_text(&self, scope: Scope) -> bool {
        let is_needed = self.grammar.dialect.api.order.needed.iter().flat_map(|list| list.iter());
        let has_deltas = |effect: &EventInfo| effect.scope == scope && effect.role == Role::Delta;
        self.grammar.effects.iter().any(|effect| has_deltas(effect))
            && is_needed.into_iter().any(|name| *name == self.grammar.level(scope).name)
    }

    fn children(&self, node: &Node) -> impl Iterator<Item = &Node> {
        let (scope, key) = (node.scope, node.key);
        self.nodes.iter().filter(move |inner| {
            self.grammar.level(inner.scope).parent == Some(scope)
                && inner.key.shortened(key.indices().len()) == key
        })
    }

    /// The occurrences of a scope, and the next one.
    fn keys(&self, scope: Scope) -> Vec<Key> {
        let level = self.grammar.level(scope);
        let Some(parent) = level.parent else { return vec![Key::default()] };
        let mut keys = Vec::new();
        for around in self.keys(parent) {
            if self.find(parent, around).is_some_and(|node| node.is_closed) {
                continue;
            }
            if level.own_index.is_none() {
                keys.push(around);
                continue;
            }
            keys.extend((0..=self.count(scope, around)).map(|index| around.child(index)));
        }
        keys
    }

    fn kinds(&self, effect: &EventInfo, key: Key) -> Vec<Option<&'static str>> {
        if effect.role != Role::Open || effect.level.is_root {
            return vec![None];
        }
        let outer = self.grammar.around(effect.scope, key);
        let outer = outer.and_then(|(scope, key)| self.find(scope, key)?.kind);
        let is_it = |nesting: &&Nesting| {
            nesting.scope == effect.scope
                && nesting.outer == outer
                && self.grammar.templates.has_value(effect, nesting.kind)
        };
        self.grammar.templates.nestings.iter().filter(is_it).map(|nesting| nesting.kind).collect()
    }

    /// Begins the occurrence with those around it if necessary.
    fn ensure(&mut self, scope: Scope, key: Key) -> usize {
        if let Some(at) = self.nodes.iter().position(|node| node.scope == scope && node.key == key) {
            return at;
        }
        if let Some((scope, key)) = self.grammar.around(scope, key) {
            self.ensure(scope, key);
        }
        self.nodes.push(Node { scope, key, kind: None, is_closed: false, fragments: 0, phases: 0 });
        self.nodes.len() - 1
    }

    fn find(&self, scope: Scope, key: Key) -> Option<&Node> {
        self.nodes.iter().find(|node| node.scope == scope && node.key == key)
    }

    fn is_early(&self, effect: &EventInfo) -> bool {
        effect.early && self.nodes.is_empty()
    }

    fn root_level(&self) -> &'static ScopeInfo {
        self.grammar.level(self.grammar.dialect.api.root)
    }

    /// Such an event ends a stream that has failed.
    fn is_failure(&self, effect: &EventInfo) -> bool {
        effect.role == Role::Terminal && effect.phase == Some(self.grammar.dialect.api.status.failed)
    }

    fn fails_with_an_event(&self) -> bool {
        self.grammar.effects.iter().any(|effect| self.is_failure(effect))
    }
}
