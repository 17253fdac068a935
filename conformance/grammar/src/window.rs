//! Steps in a row, without indices.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use spec::Dialect;
use spec::table::{EventInfo, Role};

use crate::step::{Key, Step};

/// A step without indices.
#[derive(Debug, Clone, Copy)]
pub struct Stage {
    /// The event, or one of its effects.
    pub effect: &'static EventInfo,
    /// The type of the value that it opens within a container.
    pub kind: Option<&'static str>,
}

impl Stage {
    const fn id(&self) -> (usize, Option<&'static str>) {
        (self.effect.number, self.kind)
    }
}

impl PartialEq for Stage {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Stage {}

impl PartialOrd for Stage {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Stage {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id().cmp(&other.id())
    }
}

impl Hash for Stage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        Step { effect: self.effect, key: Key::default(), kind: self.kind }.fmt(to)
    }
}

/// Up to three steps in a row of a container, or of the stream around all containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// The type of the container, or the name of its scope if it has none.
    pub lane: &'static str,
    /// The steps, the last one last.
    pub stages: [Option<Stage>; 3],
}

impl Window {
    /// The window has two steps before this one.
    pub(crate) const fn new(lane: &'static str, before: [Option<Stage>; 2], stage: Stage) -> Self {
        Self { lane, stages: [before[0], before[1], Some(stage)] }
    }

    pub(crate) const fn before_next(&self) -> [Option<Stage>; 2] {
        [self.stages[1], self.stages[2]]
    }
}

/// `None` if the step lies in no container.
pub(crate) fn inner(dialect: &Dialect, step: &Step) -> Option<Stage> {
    let (api, scope) = (dialect.api, step.effect.scope);
    let kind = step.kind.filter(|_| scope != api.container);
    api.with_parents(scope).any(|scope| scope == api.container).then_some(Stage { effect: step.effect, kind })
}

/// Around all containers, containers only begin and end.
pub(crate) fn outer(dialect: &Dialect, step: &Step) -> Option<Stage> {
    let is_edge = step.effect.scope == dialect.api.container
        && (step.effect.role == Role::Open || step.effect.ends_scope());
    let is_outside = inner(dialect, step).is_none();
    (is_edge || is_outside).then_some(Stage { effect: step.effect, kind: None })
}
