//! The values that relations keep of a node.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::reusable::Recycle;

/// The values that relations keep of a node, by the position of the relation in the plan.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// The cells in use, and behind them others whose memory is used again.
    all: Vec<(usize, Cell)>,
    used: usize,
}

#[derive(Debug)]
pub(super) enum Cell {
    /// One value, as JSON.
    Value(String),
    /// Several, in order.
    Values(Vec<Box<str>>),
    /// Several, by hash.
    Hashes(BTreeSet<u64>),
}

/// Maximum size of a value whose memory is used again, in bytes. Most are ids.
const SHORT: usize = 128;

impl Cells {
    fn in_use(&self) -> impl Iterator<Item = &(usize, Cell)> {
        self.all.iter().take(self.used)
    }

    pub(super) fn get(&self, relation: usize) -> Option<&Cell> {
        self.in_use().find(|(of, _)| *of == relation).map(|(_, cell)| cell)
    }

    fn get_mut(&mut self, relation: usize) -> Option<&mut Cell> {
        self.all.iter_mut().take(self.used).find(|(of, _)| *of == relation).map(|(_, cell)| cell)
    }

    /// Keeps only hashes. Returns whether the value is new.
    pub(super) fn add_unique(&mut self, relation: usize, value: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(Cell::Hashes(seen)) = self.get_mut(relation) {
            return seen.insert(hash);
        }
        self.add(relation, Cell::Hashes([hash].into()));
        true
    }

    pub(super) fn collect(&mut self, relation: usize, value: &str) {
        match self.get_mut(relation) {
            Some(Cell::Values(values)) => values.push(value.into()),
            _ => self.add(relation, Cell::Values(vec![value.into()])),
        }
    }

    fn add(&mut self, relation: usize, cell: Cell) {
        self.all.push((relation, cell));
        let last = self.all.len() - 1;
        self.all.swap(self.used, last);
        self.used += 1;
    }

    pub(super) fn set(&mut self, relation: usize, value: &str) {
        if let Some(cell) = self.get_mut(relation) {
            *cell = Cell::Value(value.to_owned());
        } else if let Some((of, Cell::Value(old))) = self.all.get_mut(self.used) {
            *of = relation;
            value.clone_into(old);
            self.used += 1;
        } else {
            self.add(relation, Cell::Value(value.to_owned()));
        }
    }
}

impl Recycle for Cells {
    fn recycle(&mut self) {
        self.all.retain(|(_, cell)| matches!(cell, Cell::Value(value) if value.capacity() <= SHORT));
        self.used = 0;
    }

    fn weight(&self) -> usize {
        let cells: usize = self.all.iter().map(|(_, cell)| cell.weight()).sum();
        self.all.capacity() * size_of::<(usize, Cell)>() + cells
    }
}

impl Cell {
    fn weight(&self) -> usize {
        match self {
            Self::Value(value) => value.capacity(),
            Self::Values(values) => {
                let texts: usize = values.iter().map(|value| value.len()).sum();
                texts + values.capacity() * size_of::<Box<str>>()
            }
            Self::Hashes(seen) => seen.len() * 2 * size_of::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recycled_is_not_found() {
        let mut cells = Cells::default();
        for text in ["one", "two", &"long".repeat(SHORT)] {
            cells.set(3, text);
            assert!(cells.add_unique(5, text) && !cells.add_unique(5, text));
            cells.collect(7, text);
            cells.collect(7, text);
            cells.set(9, "other");
            cells.set(3, text);
            assert!(matches!(cells.get(3), Some(Cell::Value(value)) if value == text));
            assert!(matches!(cells.get(7), Some(Cell::Values(values)) if values.len() == 2));
            assert!(matches!(cells.get(9), Some(Cell::Value(value)) if value == "other"));
            assert_eq!(cells.in_use().count(), 4);
            let weight = cells.weight();
            cells.recycle();
            assert!(cells.weight() < weight);
            assert!([3, 5, 7, 9].iter().all(|relation| cells.get(*relation).is_none()));
        }
        assert_eq!(cells.all.len(), 1, "memory of long values, lists and sets is not kept");
    }
}
