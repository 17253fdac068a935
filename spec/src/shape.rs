//! The shape of an event, with which the next one is compared.

use std::ops::Range;

use crate::json::{LOST, RawString, Scanner, Varying};
use crate::table::{EventInfo, Slot};
use crate::view::{View, usual_count};

/// Maximum size of a kept event, in bytes.
const LONGEST: usize = 4096;

/// A valid event, and the values in it that may vary without affecting validity. The deltas of a text usually differ
/// only in these, so that the rest need not be validated again.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    event: Option<&'static EventInfo>,
    /// The event as a frame of server-sent events, to its end.
    frame: String,
    /// Its data in the frame.
    data: Range<usize>,
    /// The varying values, in the data.
    varying: Varying,
    slots: Vec<SlotPlace>,
    fragment: Option<FragmentPlaces>,
    /// Whether the last event had it. Otherwise an event with it is valid, too, but does not repeat the last one.
    is_last: bool,
}

/// A delta of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Its text.
    pub text: RawString<'a>,
    /// Its sequence number.
    pub number: u64,
}

/// The places of a delta among the varying values. The text between these is plain.
#[derive(Debug, Clone, Copy)]
struct FragmentPlaces {
    text: usize,
    number: usize,
}

/// The place of the value of a slot.
#[derive(Debug)]
struct SlotPlace {
    slot: Slot,
    start: Offset,
    end: Offset,
}

/// An offset that moves with the values before it.
#[derive(Debug)]
struct Offset {
    at: u32,
    /// Number of varying values that begin before it.
    behind: u8,
}

/// The shift of offsets after each of the varying values.
type Shifts = [u32; (Varying::MOST + 1).next_power_of_two()];

impl Offset {
    #[inline]
    fn moved(&self, shifts: &Shifts) -> u32 {
        self.at.wrapping_add(shifts[usize::from(self.behind) % shifts.len()])
    }
}

impl Shape {
    /// Keeps the shape of a valid event.
    pub(crate) fn learn(&mut self, event: &'static EventInfo, view: &View<'_>, varying: &Varying) {
        let (text, values) = (view.text(), varying.values());
        self.is_last = !values.is_empty() && text.len() <= LONGEST;
        if !self.is_last {
            return;
        }
        self.event = Some(event);
        self.frame.clear();
        self.frame.extend(["event: ", event.name, "\ndata: "]);
        self.data = self.frame.len()..self.frame.len() + text.len();
        self.frame.extend([text, "\n\n"]);
        self.fragment = FragmentPlaces::of(event, view, values);
        let offset = |at: u32| {
            let behind = values.iter().map(|value| u8::from(value.start < at as usize)).sum();
            Offset { at, behind }
        };
        self.slots.clear();
        self.slots.extend(view.places().map(|(slot, (start, end))| {
            let (start, end) = (offset(start), offset(end));
            SlotPlace { slot, start, end }
        }));
        self.varying = varying.clone();
    }

    /// Passes over an event that has no shape.
    pub(crate) const fn pass(&mut self) {
        self.is_last = false;
    }

    /// Returns the text and the number of another event, if it has this shape and is a delta.
    #[inline]
    pub(crate) fn fragment<'a>(&self, event: &EventInfo, data: &'a str) -> Option<Fragment<'a>> {
        let (fragment, end) = self.fragment_from(self.data.start, self.data.end, event, data)?;
        (end == data.len()).then_some(fragment)
    }

    /// Returns the same for the frame at the start of a text, and its length.
    #[inline]
    pub(crate) fn fragment_of_frame<'a>(
        &self,
        event: &EventInfo,
        text: &'a str,
    ) -> Option<(Fragment<'a>, usize)> {
        self.fragment_from(0, self.frame.len(), event, text)
    }

    /// Compares a text with a part of the frame.
    #[inline]
    fn fragment_from<'a>(
        &self,
        start: usize,
        end: usize,
        event: &EventInfo,
        text: &'a str,
    ) -> Option<(Fragment<'a>, usize)> {
        let (values, fragment) = (self.varying.values(), self.fragment?);
        if !self.is_last || !std::ptr::eq(self.event?, event) {
            return None;
        }
        let known = self.frame.as_bytes();
        let mut scanner = Scanner::new(text);
        let mut places = [(0, 0, false); Varying::MOST];
        let mut at = start;
        for (value, place) in values.iter().zip(&mut places) {
            let value = self.data.start + value.start..self.data.start + value.end;
            if !scanner.pass_same(known.get(at..value.start)?) {
                return None;
            }
            place.0 = scanner.offset();
            if !scanner.pass_alike(*known.get(value.start)?)? {
                return None;
            }
            (place.1, place.2, at) = (scanner.offset(), scanner.is_escaped(), value.end);
        }
        if !scanner.pass_same(known.get(at..end)?) {
            return None;
        }
        let (start, end, escaped) = *places.get(fragment.text)?;
        let (from, to, _) = *places.get(fragment.number)?;
        let raw = text.get(start + 1..end - 1)?;
        let number = usual_count(text.get(from..to)?)?;
        Some((Fragment { text: RawString { raw, escaped }, number }, scanner.offset()))
    }

    /// Sets the places of values in the data of another event, if it has this shape.
    pub(crate) fn fit<'a>(&mut self, event: &EventInfo, data: &'a str, view: &mut View<'a>) -> Option<()> {
        let values = self.varying.values();
        if !std::ptr::eq(self.event?, event) {
            return None;
        }
        // All offsets fit.
        u32::try_from(data.len()).ok()?;
        let known = self.frame.as_bytes().get(self.data.clone())?;
        let mut scanner = Scanner::new(data);
        let mut shifts = Shifts::default();
        let mut at = 0;
        for (value, shift) in values.iter().zip(&mut shifts[1..]) {
            if !scanner.pass_same(known.get(at..value.start)?) {
                return None;
            }
            scanner.pass_alike(*known.get(value.start)?)?;
            at = value.end;
            *shift = low(scanner.offset()).wrapping_sub(low(at));
        }
        if !scanner.pass_same(known.get(at..)?) || scanner.offset() != data.len() {
            return None;
        }
        view.set(data, self.is_last);
        self.is_last = true;
        for SlotPlace { slot, start, end } in &self.slots {
            view.put_place(*slot, (start.moved(&shifts), end.moved(&shifts)));
        }
        Some(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no text with offsets has 4 GiB")]
const fn low(offset: usize) -> u32 {
    offset as u32
}

impl FragmentPlaces {
    fn of(event: &EventInfo, view: &View<'_>, values: &[Range<usize>]) -> Option<Self> {
        let text = view.text();
        let place = |slot| {
            let (_, (start, _)) = view.places().find(|(found, _)| *found == slot)?;
            values.iter().position(|value| value.start == start as usize)
        };
        let starts = values.iter().map(|value| value.start).chain([text.len()]);
        let ends = [0].into_iter().chain(values.iter().map(|value| value.end));
        let mut between = ends.zip(starts).map(|(end, start)| text.get(end..start).unwrap_or_default());
        let begins_with_type = |before: &str| {
            let rest = before.strip_prefix("{\"type\":\"").and_then(|rest| rest.strip_prefix(event.name));
            rest.is_some_and(|rest| rest.starts_with('"'))
        };
        let is_typed = between.next().is_some_and(|before| begins_with_type(before) && is_plain(before));
        let has_logprobs = view.raw(Slot::Logprobs).is_some_and(|list| !matches!(list, "[]" | "null"));
        let (text, number) = (place(Slot::Value)?, place(Slot::SequenceNumber)?);
        let is_text = view.raw(Slot::Value).is_some_and(|raw| raw.starts_with('"'));
        (is_typed && is_text && !has_logprobs && between.all(is_plain)).then_some(Self { text, number })
    }
}

/// Returns whether a text has no escapes, no U+FFFD, and no line ends, which would end a line of the frame.
fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | LOST))
}
