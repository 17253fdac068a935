//! The values of an event that parsing extracts.

use std::ops::Range;

use crate::api::{Api, Slot};
use crate::count::Count;
use crate::json::{Checker, RawString, Scan, is_escaped};

/// The values of an event that the lifecycle and rules use, as JSON text borrowed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    pub(crate) text: &'a str,
    /// The range of each value in the text; empty if absent. Values beyond 4 GiB of text are not found.
    slots: [(u32, u32); Slot::COUNT],
    pub(crate) repeats: bool,
    pub(crate) is_newer: bool,
}

impl<'a> View<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, slots: [(0, 0); Slot::COUNT], repeats: false, is_newer: false }
    }

    /// Returns whether the event equals the previous one except for its value, its sequence number, and values
    /// without a slot. It then belongs to the same node.
    pub const fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns whether a value of the event is newer than its dialect; see [`crate::Dialect::newer_values`].
    pub const fn is_newer(&self) -> bool {
        self.is_newer
    }

    /// Only values that the event has.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Slot, (u32, u32))> {
        let places = Slot::ALL.iter().copied().zip(self.slots.iter().copied());
        places.filter(|(_, (start, end))| start < end)
    }

    #[inline]
    pub(crate) fn put(&mut self, slot: Slot, place: (usize, usize)) {
        self.put_place(slot, Self::place_of(place));
    }

    /// Empty if it is beyond 4 GiB.
    #[inline]
    pub(crate) fn place_of((start, end): (usize, usize)) -> (u32, u32) {
        #[expect(clippy::cast_possible_truncation, reason = "it is not behind the end")]
        u32::try_from(end).map_or((0, 0), |end| (start as u32, end))
    }

    /// Only ranges that are not empty.
    pub(crate) fn put_all(&mut self, slots: &[(u32, u32); Slot::COUNT]) {
        for (own, other) in self.slots.iter_mut().zip(slots) {
            if *other != (0, 0) {
                *own = *other;
            }
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

    /// Creates a view without an event.
    pub const fn nothing() -> Self {
        Self::new("")
    }

    /// Returns the JSON text of a value, if the event has it.
    #[inline]
    pub fn raw(&self, slot: Slot) -> Option<&'a str> {
        let place = self.place(slot);
        if place.is_empty() { None } else { self.text.get(place) }
    }

    /// Returns the log probabilities of a text, unless there are none.
    #[inline]
    pub fn logprobs(&self) -> Option<&'a str> {
        self.raw(Slot::Logprobs).filter(|list| !matches!(*list, "[]" | "null"))
    }

    /// Returns the value of the root, if the event has it.
    pub fn snapshot(&self, api: &Api) -> Option<&'a str> {
        self.raw(api.snapshot?)
    }

    /// Returns a numeric value, such as an index. A whole number that is written as a string counts as the number: the schema
    /// reports its type, and no other finding follows.
    #[inline]
    pub fn count(&self, slot: Slot) -> Option<Count> {
        let raw = self.raw(slot)?;
        Count::read(raw).or_else(|| Count::quoted(raw))
    }

    /// Returns whether all indices and sequence numbers consist of a few digits, as nearly all do. An event with the
    /// shape of the previous one has the same indices.
    #[inline]
    pub fn has_usual_counts(&self) -> bool {
        let is_usual = |slot: &Slot| self.raw(*slot).is_none_or(is_usual_count);
        let slots: &[Slot] = if self.repeats { &[Slot::SequenceNumber] } else { &Slot::COUNTS };
        slots.iter().all(is_usual)
    }

    /// Returns the indices and the sequence number of the event.
    pub fn counts(&self) -> impl Iterator<Item = (Slot, Count)> {
        Slot::COUNTS.iter().filter_map(|slot| Some((*slot, self.count(*slot)?)))
    }

    /// Returns a string value, not yet decoded.
    pub fn string(&self, slot: Slot) -> Option<RawString<'a>> {
        let raw = self.raw(slot)?.strip_prefix('"')?.strip_suffix('"')?;
        Some(RawString { raw, escaped: is_escaped(raw) })
    }

    /// The object is at the cursor, which does not move.
    pub(crate) fn take_members(&mut self, checker: &Checker<'a, '_>, members: &[(&str, Slot)]) -> Scan<()> {
        checker.members(|name, value| {
            if let Some((_, slot)) = members.iter().find(|(member, _)| *member == name) {
                self.put(*slot, value);
            }
        })
    }
}

#[inline]
pub(crate) fn usual_count(raw: &str) -> Option<u64> {
    if raw.len() >= USUAL_DIGITS {
        return None;
    }
    let digit = |byte: u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10).map(u64::from);
    raw.bytes().try_fold(0, |number, byte| Some(10 * number + digit(byte)?))
}

/// Maximum number of digits of a usual count.
const USUAL_DIGITS: usize = 16;

#[inline]
fn is_usual_count(raw: &str) -> bool {
    raw.len() < USUAL_DIGITS && raw.bytes().all(|byte| byte.is_ascii_digit())
}
