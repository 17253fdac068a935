//! The enumeration of streams.

use crate::bounds::Bounds;
use crate::grammar::Grammar;
use crate::state::StreamState;
use crate::step::{Move, Step};

/// The legal streams within bounds. Shorter ones come first, and streams of one length in the order of the tables.
#[derive(Debug)]
pub struct Streams<'g> {
    grammar: &'g Grammar,
    bounds: Bounds,
    length: usize,
    /// The moves so far, each with the state before it and those that are to be tried after it.
    path: Vec<(StreamState<'g>, Vec<Move>)>,
    moves: Vec<Move>,
}

impl<'g> Streams<'g> {
    /// Enumerates the streams of a grammar.
    pub fn new(grammar: &'g Grammar, bounds: Bounds) -> Self {
        Self { grammar, bounds, length: 0, path: Vec::new(), moves: Vec::new() }
    }

    /// The last choice comes first.
    fn choices(&self, state: &StreamState<'g>) -> Vec<Move> {
        let mut choices = Vec::new();
        for step in state.steps(&self.bounds) {
            self.extend(state, &[step], &mut choices);
        }
        choices.reverse();
        choices
    }

    /// The move alone, and with more effects of the same event.
    fn extend(&self, state: &StreamState<'g>, so_far: &[Step], choices: &mut Vec<Move>) {
        let (Some(first), Some(last)) = (so_far.first().copied(), so_far.last().copied()) else { return };
        choices.push(so_far.to_vec());
        if last.effect.effect.is_none() || so_far.len() == self.bounds.effects {
            return;
        }
        let mut after = state.clone();
        after.take_all(so_far);
        let is_beside = |step: &Step| {
            step.effect.name == last.effect.name
                && step.effect.number > last.effect.number
                && (self.bounds.combined || self.grammar.templates.are_together(first.effect, step.effect))
                && step.key.indices().first() == first.key.indices().first()
        };
        for step in after.steps(&self.bounds).into_iter().filter(is_beside) {
            self.extend(state, &[so_far, &[step]].concat(), choices);
        }
    }
}

impl Iterator for Streams<'_> {
    type Item = Vec<Move>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((state, choices)) = self.path.last_mut() else {
                if self.length == self.bounds.events {
                    return None;
                }
                self.length += 1;
                self.moves.clear();
                let state = StreamState::new(self.grammar);
                let choices = self.choices(&state);
                self.path.push((state, choices));
                continue;
            };
            let Some(choice) = choices.pop() else {
                self.path.pop();
                self.moves.pop();
                continue;
            };
            let mut state = state.clone();
            state.take_all(&choice);
            let left = self.length - self.path.len();
            if left == 0 && state.may_end() {
                let mut stream = self.moves.clone();
                stream.push(choice);
                return Some(stream);
            }
            if left > 0 && state.least() <= left {
                let choices = self.choices(&state);
                self.path.push((state, choices));
                self.moves.push(choice);
            }
        }
    }
}
