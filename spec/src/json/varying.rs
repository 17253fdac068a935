//! The values in which an event may differ from the previous one.

use std::ops::Range;

/// The places of the values of an event that any other text or whole number could replace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Varying {
    values: [Range<usize>; Varying::MOST],
    count: usize,
}

impl Varying {
    /// Maximum number of values of an event that may vary.
    pub(crate) const MOST: usize = 4;

    pub(super) fn add(&mut self, value: Range<usize>) {
        if let Some(place) = self.values.get_mut(self.count) {
            *place = value;
        }
        self.count += 1;
    }

    pub(crate) fn with(&self, value: Range<usize>) -> Self {
        let mut all = self.clone();
        all.add(value);
        if let Some(values) = all.values.get_mut(..all.count) {
            values.sort_by_key(|value| value.start);
        }
        all
    }

    /// In order. Empty if there are too many.
    pub(crate) fn values(&self) -> &[Range<usize>] {
        self.values.get(..self.count).unwrap_or_default()
    }
}
