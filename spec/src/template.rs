//! The last event, with which the next one is compared.

use std::ops::Range;

use crate::api::Slot;
use crate::event::EventInfo;
use crate::json::{Checker, LOST, Outline, RawString, Scanner, Schema, Varying};
use crate::view::{View, usual_count};
use crate::watch::{ByteRange, Matched, Matches};

/// A delta of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Its text.
    pub text: RawString<'a>,
    /// Its sequence number, if such deltas have one.
    pub number: Option<u64>,
}

/// A delta in a frame of server-sent events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentFrame<'a> {
    /// The delta.
    pub fragment: Fragment<'a>,
    /// The place of its data in the frame.
    pub data: Range<usize>,
    /// Length of the frame, with its blank line.
    pub length: usize,
    /// Number of its lines, with the blank one.
    pub lines: u64,
}

/// The last event if it was valid, with holes where the next one may differ and still be valid. The deltas of a text usually
/// differ only there, so that the rest is compared instead of validated. If rules have nothing to say about them either, one is
/// expected with the next sequence number, and is not even framed.
#[derive(Debug, Default)]
pub(crate) struct Template {
    /// Its type; none if it was not valid, or has no holes.
    event: Option<&'static EventInfo>,
    /// Its data; if a delta is expected, its frame with the sequence number of that one.
    text: Vec<u8>,
    /// The place of the data in it.
    data: Range<usize>,
    /// Memory for the next one.
    spare: Vec<u8>,
    /// In order.
    holes: Vec<Hole>,
    slots: Vec<Moving<Slot>>,
    /// The places of its matches, the same as in the last event.
    matched: Vec<Moving<Matched>>,
    /// Where the text inside of other values starts, if it is there.
    nested: Option<usize>,
    /// Events have had spaces in front of the last brace: some servers hide their length by a random number of them.
    is_spaced: bool,
    is_expected: bool,
    /// Number of lines of the frame of an expected delta.
    lines: u64,
    /// The holes with its text and its sequence number.
    delta: usize,
    numbered: Option<usize>,
    /// Its sequence number, if it is known.
    number: Option<u64>,
}

/// A value that may differ.
#[derive(Debug)]
struct Hole {
    place: Range<usize>,
    /// Its first byte. Another value is of the same kind.
    first: u8,
    /// The schema of another value, unless any of its kind is valid.
    schema: Option<&'static Schema>,
}

/// The place of a value.
#[derive(Debug)]
struct Moving<T> {
    of: T,
    start: Offset,
    end: Offset,
}

/// An offset that moves with the values before it.
#[derive(Debug)]
struct Offset {
    at: u32,
    /// Number of holes that begin before it.
    behind: u8,
}

/// The shift of offsets behind each of the holes, which are the values that may vary, and spaces.
type Shifts = [u32; (Varying::MOST + 2).next_power_of_two()];

/// Maximum size of a kept event, in bytes.
const LONGEST: usize = 4096;

/// The end of a frame.
const END: &[u8] = b"\n\n";

/// Sequence numbers from here on are not expected: it is unknown whether they are exact.
const MOST: u64 = 1_000_000_000_000_000;

impl<T> Moving<T> {
    fn new(of: T, (start, end): ByteRange, holes: &[Hole]) -> Self {
        Self { of, start: Offset::new(start, holes), end: Offset::new(end, holes) }
    }

    #[inline]
    fn moved(&self, shifts: &Shifts) -> ByteRange {
        (self.start.moved(shifts), self.end.moved(shifts))
    }
}

impl Offset {
    fn new(at: u32, holes: &[Hole]) -> Self {
        let behind = holes.iter().map(|hole| u8::from(hole.place.start < at as usize)).sum();
        Self { at, behind }
    }

    #[inline]
    fn moved(&self, shifts: &Shifts) -> u32 {
        self.at.wrapping_add(shifts[usize::from(self.behind) % shifts.len()])
    }
}

impl Template {
    /// `nested` is the start of the text of the event, if that is inside of other values. The event is valid.
    pub(crate) fn learn(
        &mut self,
        event: &'static EventInfo,
        view: &View<'_>,
        varying: &Varying,
        matches: &Matches,
        nested: Option<usize>,
    ) {
        self.forget();
        let Ok(replaceable) = matches.replaceable() else { return };
        let replaceable = replaceable.map(|it| (it.place.0 as usize..it.place.1 as usize, it.schema));
        let varying = match &replaceable {
            Some((place, _)) => &varying.with(place.clone()),
            None => varying,
        };
        let (text, values) = (view.text, varying.values());
        if values.is_empty() || text.len() > LONGEST {
            return;
        }
        self.event = Some(event);
        text.as_bytes().clone_into(&mut self.text);
        self.data = 0..text.len();
        self.holes.clear();
        self.holes.extend(values.iter().map(|place| Hole {
            place: place.clone(),
            first: text.as_bytes().get(place.start).copied().unwrap_or_default(),
            schema: replaceable.as_ref().filter(|(own, _)| own == place).map(|(_, schema)| *schema),
        }));
        if let Some(inner) = text.strip_suffix('}') {
            let place = inner.trim_end_matches(' ').len()..inner.len();
            self.is_spaced |= !place.is_empty();
            self.holes.extend(self.is_spaced.then_some(Hole { place, first: b' ', schema: None }));
        }
        let holes = &self.holes;
        self.slots.clear();
        self.slots.extend(view.places().map(|(of, place)| Moving::new(of, place, holes)));
        self.matched.clear();
        self.matched.extend(matches.places().map(|(of, place)| Moving::new(of, place, holes)));
        self.nested = nested;
    }

    pub(crate) const fn forget(&mut self) {
        (self.event, self.is_expected) = (None, false);
    }

    fn is_of(&self, event: &EventInfo) -> bool {
        self.event.is_some_and(|own| std::ptr::eq(own, event))
    }

    /// `None` unless a delta of this type is expected.
    #[inline]
    pub(crate) fn expected(&self, event: &EventInfo) -> Option<&Self> {
        (self.is_expected && self.is_of(event)).then_some(self)
    }

    /// If the data differs from the last event only in the holes: sets the places of its values, and moves the matches of the
    /// last event.
    pub(crate) fn fit<'a>(
        &mut self,
        event: &EventInfo,
        data: &'a str,
        view: &mut View<'a>,
        matches: &mut Matches,
        outline: &mut Outline,
    ) -> Option<()> {
        if !self.is_of(event) {
            return None;
        }
        // All offsets fit.
        u32::try_from(data.len()).ok()?;
        let (mut scanner, mut shifts, start) = (Scanner::new(data), Shifts::default(), self.data.start);
        self.pass(self.data.clone(), &mut scanner, None, |scanner, nth, hole| {
            if let Some(schema) = hole.schema {
                scanner.pass_same(&[hole.first]).then_some(())?;
                scanner.rewind(Checker::end_of_valid(data, scanner.offset() - 1, schema, outline)?);
            } else {
                scanner.pass_alike(hole.first)?;
            }
            *shifts.get_mut(nth + 1)? = low(scanner.offset()).wrapping_sub(low(hole.place.end - start));
            Some(())
        })?;
        if scanner.offset() != data.len() {
            return None;
        }
        view.text = data;
        view.repeats = true;
        for slot in &self.slots {
            view.put_place(slot.of, slot.moved(&shifts));
        }
        for matched in &self.matched {
            matches.set_place(matched.of, matched.moved(&shifts));
        }
        self.follow(view.raw(Slot::SequenceNumber).and_then(usual_count));
        Some(())
    }

    /// Passes what is between the holes of a part of the text, and calls a function at each of them, unless it is filled.
    #[inline]
    fn pass<'a>(
        &self,
        part: Range<usize>,
        scanner: &mut Scanner<'a>,
        filled: Option<usize>,
        mut fill: impl FnMut(&mut Scanner<'a>, usize, &Hole) -> Option<()>,
    ) -> Option<()> {
        let mut at = part.start;
        for (nth, hole) in self.holes.iter().enumerate().filter(|(nth, _)| filled != Some(*nth)) {
            scanner.pass_same(self.text.get(at..hole.place.start)?).then_some(())?;
            fill(scanner, nth, hole)?;
            at = hole.place.end;
        }
        scanner.pass_same(self.text.get(at..part.end)?).then_some(())
    }

    /// Expects a delta after the last event, if that had this type and a text, unless its text or its sequence number cannot
    /// vary, or what is between the holes is not plain. `line` is the `event:` field of their frames.
    pub(crate) fn expect(&mut self, event: &EventInfo, line: Option<&str>, number: Option<u64>) {
        if self.is_expected || !self.is_of(event) || self.holes.iter().any(|hole| hole.schema.is_some()) {
            return;
        }
        let place = |slot| self.slots.iter().find(|place| place.of == slot);
        let place = |slot| place(slot).map(|place| place.start.at as usize..place.end.at as usize);
        let logprobs = place(Slot::Logprobs).and_then(|place| self.text.get(place));
        let has_logprobs = logprobs.is_some_and(|list| !matches!(list, b"[]" | b"null"));
        let begins_with_type = || {
            let rest = self.text.strip_prefix(b"{\"type\":\"")?.strip_prefix(event.name.as_bytes())?;
            (rest.first() == Some(&b'"')).then_some(())
        };
        let value =
            self.nested.or_else(|| begins_with_type().and(place(Slot::Value)).map(|value| value.start));
        let digits = place(Slot::SequenceNumber);
        let hole = |start| self.holes.iter().position(|hole| hole.place.start == start);
        let delta =
            value.and_then(hole).filter(|nth| self.holes.get(*nth).is_some_and(|it| it.first == b'"'));
        let numbered = digits.clone().and_then(|digits| hole(digits.start));
        let (Some(delta), false) = (delta, has_logprobs || digits.is_some() != numbered.is_some()) else {
            return;
        };
        let starts = self.holes.iter().map(|hole| hole.place.start).chain([self.text.len()]);
        let ends = [0].into_iter().chain(self.holes.iter().map(|hole| hole.place.end));
        if !ends.zip(starts).all(|(end, start)| self.text.get(end..start).is_some_and(is_plain)) {
            return;
        }
        self.number = digits.and_then(|place| usual_count(str::from_utf8(self.text.get(place)?).ok()?));
        (self.is_expected, self.delta, self.numbered) = (true, delta, numbered);
        self.spare.clear();
        let event = line.map_or([""; 3], |line| ["event: ", line, "\n"]).map(str::as_bytes);
        for piece in event.into_iter().chain([b"data: ", &*self.text, END]) {
            self.spare.extend_from_slice(piece);
        }
        let end = self.spare.len() - END.len();
        self.data = end - self.text.len()..end;
        std::mem::swap(&mut self.text, &mut self.spare);
        self.lines = if line.is_some() { 3 } else { 2 };
        for hole in &mut self.holes {
            hole.place = self.data.start + hole.place.start..self.data.start + hole.place.end;
        }
        self.follow(number);
    }

    /// Expects the sequence number after this one, if a delta is expected.
    fn follow(&mut self, number: Option<u64>) {
        let Some(nth) = self.numbered.filter(|_| self.is_expected) else { return };
        let number = number.filter(|number| *number < MOST);
        if self.number != number {
            self.number = number;
            if let (Some(number), Some(hole)) = (number, self.holes.get(nth)) {
                self.write_digits(nth, hole.place.clone(), &number.to_string());
            }
        }
        self.advance();
    }

    /// `nth` is the hole of the sequence number.
    fn write_digits(&mut self, nth: usize, place: Range<usize>, digits: &str) {
        let grown = digits.len().wrapping_sub(place.len());
        self.text.splice(place, digits.bytes());
        self.data.end = self.data.end.wrapping_add(grown);
        let mut holes = self.holes.iter_mut().skip(nth);
        if let Some(hole) = holes.next() {
            hole.place.end = hole.place.end.wrapping_add(grown);
        }
        for hole in holes {
            hole.place = hole.place.start.wrapping_add(grown)..hole.place.end.wrapping_add(grown);
        }
        let slots = self.slots.iter_mut().flat_map(|it| [&mut it.start, &mut it.end]);
        let matched = self.matched.iter_mut().flat_map(|it| [&mut it.start, &mut it.end]);
        for offset in slots.chain(matched).filter(|offset| usize::from(offset.behind) > nth) {
            offset.at = offset.at.wrapping_add(low(grown));
        }
    }

    /// Expects the next number, if a delta is expected.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let Some((nth, number)) = self.numbered.zip(self.number.as_mut()).filter(|_| self.is_expected) else {
            return;
        };
        *number += 1;
        let Some(place) = self.holes.get(nth).map(|hole| hole.place.clone()) else { return };
        for digit in self.text.get_mut(place.clone()).unwrap_or_default().iter_mut().rev() {
            if *digit != b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        self.write_digits(nth, place.start..place.start, "1");
    }

    /// `None` if the data is not the expected one.
    #[inline]
    pub(crate) fn in_data<'a>(&self, data: &'a str) -> Option<Fragment<'a>> {
        let (fragment, length) = self.fragment(self.data.clone(), data)?;
        (length == data.len()).then_some(fragment)
    }

    /// `None` if the frame at the start of the text is not the expected one.
    #[inline]
    pub(crate) fn in_frame<'a>(&self, text: &'a str) -> Option<FragmentFrame<'a>> {
        let (fragment, length) = self.fragment(0..self.text.len(), text)?;
        let data = self.data.start..length - END.len();
        Some(FragmentFrame { fragment, data, length, lines: self.lines })
    }

    /// The text has this part. The second value is the length of the part there.
    #[inline]
    fn fragment<'a>(&self, part: Range<usize>, text: &'a str) -> Option<(Fragment<'a>, usize)> {
        if self.number.is_some() != self.numbered.is_some() {
            return None;
        }
        let mut scanner = Scanner::new(text);
        let mut delta = RawString { raw: "", escaped: false };
        self.pass(part, &mut scanner, self.numbered, |scanner, nth, hole| {
            let start = scanner.offset();
            scanner.pass_alike(hole.first)?.then_some(())?;
            if nth == self.delta {
                let raw = text.get(start + 1..scanner.offset() - 1)?;
                delta = RawString { raw, escaped: scanner.escaped };
            }
            Some(())
        })?;
        Some((Fragment { text: delta, number: self.number }, scanner.offset()))
    }
}

/// No escapes, no U+FFFD, and no line ends, which would end a line of the frame.
fn is_plain(text: &[u8]) -> bool {
    !text.iter().fold(false, |found, byte| found | matches!(*byte, b'\\' | b'\n' | b'\r' | LOST))
}

#[expect(clippy::cast_possible_truncation, reason = "no text with offsets has 4 GiB, and shifts wrap")]
const fn low(offset: usize) -> u32 {
    offset as u32
}
