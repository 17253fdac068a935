//! What the reader of a stream wants of every event, without reading it twice.

use std::ops::Range;

use crate::count::Count;
use crate::json::{Checker, RawString, Scan, is_escaped};
use crate::table::Slot;

/// The values of an event that lifecycle and rules are about, as JSON text borrowed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    text: &'a str,
    /// From where to where each value stands in the text; nowhere is an empty range. What stands behind 4 GiB
    /// of text is not found.
    slots: [(u32, u32); Slot::COUNT],
    repeats: bool,
    is_newer: bool,
}

impl<'a> View<'a> {
    /// Returns a view of an event of which nothing was read yet.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, slots: [(0, 0); Slot::COUNT], repeats: false, is_newer: false }
    }

    /// Is a view of an event that is like the one before, from now on.
    #[inline]
    pub(crate) const fn repeat(&mut self, text: &'a str) {
        self.text = text;
        self.repeats = true;
    }

    /// Returns whether the event is like the one before it to the letter, but for its value, its sequence
    /// number, and what no slot is for. It is then about the same thing.
    pub const fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns whether some value of the event is newer than its dialect; [`crate::Dialect::newer_values`]
    /// says which.
    pub const fn is_newer(&self) -> bool {
        self.is_newer
    }

    pub(crate) const fn set_newer(&mut self, is_newer: bool) {
        self.is_newer = is_newer;
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// From where to where the values stand that the event has.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Slot, (u32, u32))> {
        let places = Slot::ALL.into_iter().zip(self.slots);
        places.filter(|(_, (start, end))| start < end)
    }

    #[inline]
    pub(crate) fn put(&mut self, slot: Slot, (start, end): (usize, usize)) {
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            self.put_place(slot, (start, end));
        }
    }

    #[inline]
    pub(crate) const fn put_place(&mut self, slot: Slot, place: (u32, u32)) {
        self.slots[slot as usize] = place;
    }

    #[inline]
    const fn place(&self, slot: Slot) -> Range<usize> {
        let (start, end) = self.slots[slot as usize];
        start as usize..end as usize
    }

    /// Returns a view of no event at all.
    pub const fn nothing() -> Self {
        Self::new("")
    }

    /// Returns the JSON text of a value, if the event has it.
    #[inline]
    pub fn raw(&self, slot: Slot) -> Option<&'a str> {
        let place = self.place(slot);
        if place.is_empty() { None } else { self.text.get(place) }
    }

    /// Returns a value that is a number, such as an index.
    #[inline]
    pub fn count(&self, slot: Slot) -> Option<Count> {
        Count::read(self.raw(slot)?)
    }

    /// Returns whether all indices and sequence numbers are written with few digits alone, as nearly all are.
    /// An event that is like the one before it has the same indices.
    #[inline]
    pub fn has_usual_counts(&self) -> bool {
        let is_usual = |slot: &Slot| self.raw(*slot).is_none_or(is_usual_count);
        let slots: &[Slot] = if self.repeats { &[Slot::SequenceNumber] } else { &COUNTS };
        slots.iter().all(is_usual)
    }

    /// Returns the indices and the sequence number that the event has.
    pub fn counts(&self) -> impl Iterator<Item = (Slot, Count)> {
        COUNTS.iter().filter_map(|slot| Some((*slot, self.count(*slot)?)))
    }

    /// Returns a value that is a string, not yet decoded.
    pub fn string(&self, slot: Slot) -> Option<RawString<'a>> {
        let raw = self.raw(slot)?.strip_prefix('"')?.strip_suffix('"')?;
        Some(RawString { raw, escaped: is_escaped(raw) })
    }

    /// Checks a value and keeps its text.
    #[inline]
    pub(crate) fn take(
        &mut self,
        checker: &mut Checker<'a>,
        slot: Slot,
        check: impl FnOnce(&mut Checker<'a>) -> Scan<()>,
    ) -> Scan<()> {
        let start = checker.offset();
        if matches!(slot, Slot::Response | Slot::Value) {
            checker.outlined(slot == Slot::Response, check)?;
        } else {
            check(checker)?;
        }
        self.put(slot, (start, checker.offset()));
        Ok(())
    }

    /// Keeps the text of these members of the object at the cursor, which stays there.
    pub(crate) fn take_members(&mut self, checker: &Checker<'a>, members: &[(&str, Slot)]) -> Scan<()> {
        checker.members(|name, value| {
            if let Some((_, slot)) = members.iter().find(|(member, _)| *member == name) {
                self.put(*slot, value);
            }
        })
    }
}

/// The slots whose values count something.
pub(crate) const COUNTS: [Slot; 7] = [
    Slot::SequenceNumber,
    Slot::OutputIndex,
    Slot::ContentIndex,
    Slot::SummaryIndex,
    Slot::AnnotationIndex,
    Slot::CommandIndex,
    Slot::PartialImageIndex,
];

/// Returns a number of few digits alone.
#[inline]
pub(crate) fn usual_count(raw: &str) -> Option<u64> {
    if raw.len() >= USUAL_DIGITS {
        return None;
    }
    let digit = |byte: u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10).map(u64::from);
    raw.bytes().try_fold(0, |number, byte| Some(10 * number + digit(byte)?))
}

/// Counts that are usual have fewer digits.
const USUAL_DIGITS: usize = 16;

/// Returns whether a value is digits alone, and so few that it is none of the numbers that are too large.
#[inline]
fn is_usual_count(raw: &str) -> bool {
    raw.len() < USUAL_DIGITS && raw.bytes().all(|byte| byte.is_ascii_digit())
}
