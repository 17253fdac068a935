//! Indices as keys.

use std::collections::BTreeMap;

use spec::Count;

/// An index: the number itself, or the position of a number that is not below [`Count::LIMIT`] in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Index(u64);

impl Index {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    pub(crate) fn whole(self) -> Option<u64> {
        Some(self.0).filter(|number| *number < Count::LIMIT)
    }
}

/// The invalid indices of a stream. Equal numbers have the same position.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    places: BTreeMap<Count, u64>,
    numbers: Vec<Count>,
}

impl Oddities {
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.numbers.clear();
    }

    #[inline]
    pub(super) fn index(&mut self, count: Count) -> Index {
        match count {
            Count::Whole(number) => Index(number),
            Count::Other(_) => self.place(count),
        }
    }

    #[cold]
    fn place(&mut self, count: Count) -> Index {
        let next = self.numbers.len() as u64;
        let place = *self.places.entry(count).or_insert_with_key(|count| {
            self.numbers.push(count.clone());
            next
        });
        Index(Count::LIMIT + place)
    }

    pub(super) fn name(&self, index: Index) -> String {
        if let Some(number) = index.whole() {
            return number.to_string();
        }
        let place = usize::try_from(index.0 - Count::LIMIT).ok();
        place.and_then(|place| self.numbers.get(place)).map(Count::to_string).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_one_index() {
        let mut oddities = Oddities::default();
        let mut index = |raw| oddities.index(Count::read(raw).unwrap());
        assert_eq!(index("1e0"), Index::new(1));
        let large = index("18446744073709551616");
        assert_eq!(large, index("18446744073709551616.0"));
        assert_ne!(large, index("18446744073709551617"));
        assert_ne!(index("-1"), index("-2"));
        assert_eq!(large.whole(), None);
        assert_eq!(oddities.name(large), "18446744073709551616");
        assert_eq!(oddities.name(Index::new(3)), "3");
    }
}
