//! The steps that streams consist of.

use std::fmt;

use spec::table::{EventInfo, Scope};
use spec::{Api, Slot};

/// The indices of an occurrence of a scope, the outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Key {
    indices: [u64; Self::MOST],
    length: usize,
}

impl Key {
    const MOST: usize = 4;

    #[must_use]
    pub(crate) fn child(mut self, index: u64) -> Self {
        if let Some(place) = self.indices.get_mut(self.length) {
            *place = index;
            self.length += 1;
        }
        self
    }

    /// The key of an occurrence around this one.
    #[must_use]
    pub(crate) fn shortened(mut self, length: usize) -> Self {
        self.indices.iter_mut().skip(length).for_each(|index| *index = 0);
        self.length = self.length.min(length);
        self
    }

    /// Returns its indices.
    pub fn indices(&self) -> &[u64] {
        self.indices.get(..self.length).unwrap_or_default()
    }
}

/// The meaning of an event in a stream, without its texts: an effect in an occurrence of its scope.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The event, or one of its effects.
    pub effect: &'static EventInfo,
    /// The occurrence.
    pub key: Key,
    /// The type of the value that opens the occurrence.
    pub kind: Option<&'static str>,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.effect.number == other.effect.number && self.key == other.key && self.kind == other.kind
    }
}

impl Eq for Step {}

impl fmt::Display for Step {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.effect.name)?;
        if let Some(effect) = self.effect.effect {
            write!(to, "/{effect}")?;
        }
        if let Some(kind) = self.kind {
            write!(to, " {kind}")?;
        }
        for index in self.key.indices() {
            write!(to, " {index}")?;
        }
        Ok(())
    }
}

pub(crate) fn around(api: &Api, scope: Scope, key: Key) -> Option<(Scope, Key)> {
    let parent = api.scope(scope).parent?;
    Some((parent, key.shortened(api.scope(parent).key.len())))
}

/// Each list of choices has one entry.
pub(crate) fn place(pointer: &str) -> String {
    pointer.replace('*', "0")
}

/// The steps of one event. An event with a list of effects has several.
pub type Move = Vec<Step>;

/// Returns moves whose indices count from 0 again, after some were removed.
pub fn renumbered(moves: &[Move]) -> Vec<Move> {
    let mut known: Vec<(Slot, Key, u64)> = Vec::new();
    let mut renumber = |step: &Step| {
        let mut key = Key::default();
        for (at, slot) in step.effect.level.key.iter().enumerate().take(step.key.length) {
            let (old, around) = (step.key.shortened(at + 1), step.key.shortened(at));
            let siblings = known.iter().filter(|(of, key, _)| of == slot && key.shortened(at) == around);
            let index = siblings.clone().find(|(_, key, _)| *key == old).map(|(_, _, index)| *index);
            let next = siblings.count() as u64;
            if index.is_none() {
                known.push((*slot, old, next));
            }
            key = key.child(index.unwrap_or(next));
        }
        Step { key, ..*step }
    };
    moves.iter().map(|steps| steps.iter().map(&mut renumber).collect()).collect()
}

/// Returns what one event does, in words.
pub fn words(steps: &Move) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
}

/// A type of value in a type of value around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nesting {
    /// The scope of the inner value.
    pub scope: Scope,
    /// The type of the value around it.
    pub outer: Option<&'static str>,
    /// Its own type.
    pub kind: Option<&'static str>,
}
