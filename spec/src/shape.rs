//! The shape of an event, with which the next one is compared.

use crate::api::Slot;
use crate::delta::LastDelta;
use crate::event::EventInfo;
use crate::json::{Checker, Outline, Scanner, Schema, Varying};
use crate::view::View;
use crate::watch::{Matched, Matches, Place, Replaceable};

/// Maximum size of a kept event, in bytes.
const LONGEST: usize = 4096;

/// The last event if it was valid, and the values in it that may vary without affecting validity. The deltas of a text
/// usually differ only in these, so that the rest need not be validated again.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// Its type; none if it was not valid, or if nothing in it may vary.
    event: Option<&'static EventInfo>,
    text: String,
    varying: Varying,
    slots: Vec<Moving<Slot>>,
    /// The places of its matches, the same as in the last event.
    matched: Vec<Moving<Matched>>,
    /// Where the text inside of other values starts, if it is there.
    nested: Option<usize>,
    /// The varying value that another one of its schema can replace, and the schema.
    replaceable: Option<(usize, &'static Schema)>,
    /// Length of the text up to the spaces in front of its last brace, if it ends with one.
    brace: Option<usize>,
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
    /// Number of varying values that begin before it.
    behind: u8,
}

/// The shift of offsets after each of the varying values.
type Shifts = [u32; (Varying::MOST + 1).next_power_of_two()];

impl<T> Moving<T> {
    #[inline]
    fn moved(&self, shifts: &Shifts) -> Place {
        (self.start.moved(shifts), self.end.moved(shifts))
    }
}

impl Offset {
    #[inline]
    fn moved(&self, shifts: &Shifts) -> u32 {
        self.at.wrapping_add(shifts[usize::from(self.behind) % shifts.len()])
    }
}

impl Shape {
    /// Keeps the shape of a valid event with its matches. `nested` is the start of its text, if that is inside of other
    /// values.
    pub(crate) fn learn(
        &mut self,
        event: &'static EventInfo,
        view: &View<'_>,
        varying: &Varying,
        matches: &Matches,
        nested: Option<usize>,
    ) {
        self.event = None;
        let Ok(replaceable) = matches.replaceable() else { return };
        let place = |it: Replaceable| it.place.0 as usize..it.place.1 as usize;
        let varying = replaceable.map_or_else(|| varying.clone(), |value| varying.with(place(value)));
        self.replaceable = replaceable.map(|it| (place(it).start, it.schema));
        let (text, values) = (view.text, varying.values());
        self.brace = text.strip_suffix('}').map(|inner| inner.trim_end_matches(' ').len());
        self.event = Some(event).filter(|_| !values.is_empty() && text.len() <= LONGEST);
        if self.event.is_none() {
            return;
        }
        text.clone_into(&mut self.text);
        let offset = |at: u32| {
            let behind = values.iter().map(|value| u8::from(value.start < at as usize)).sum();
            Offset { at, behind }
        };
        self.slots.clear();
        self.slots.extend(view.places().map(|(of, place)| Moving {
            of,
            start: offset(place.0),
            end: offset(place.1),
        }));
        self.matched.clear();
        self.matched.extend(matches.places().map(|(of, place)| Moving {
            of,
            start: offset(place.0),
            end: offset(place.1),
        }));
        self.varying = varying;
        self.nested = nested;
    }

    /// Forgets the last event.
    pub(crate) const fn forget(&mut self) {
        self.event = None;
    }

    /// Returns the data of an event of this type with the shape of the last one, if that was a delta of a text without
    /// values that rules need.
    pub(crate) fn delta(&self, event: &EventInfo) -> Option<LastDelta<'_>> {
        if !std::ptr::eq(self.event?, event) || self.replaceable.is_some() {
            return None;
        }
        let place = |slot| self.slots.iter().find(|place| place.of == slot);
        let start = |slot| place(slot).map(|place| place.start.at as usize);
        let text = self.text.as_str();
        let begins_with_type = || {
            let rest = text.strip_prefix("{\"type\":\"")?.strip_prefix(event.name)?;
            rest.starts_with('"').then_some(())
        };
        let logprobs = place(Slot::Logprobs);
        let logprobs = logprobs.and_then(|it| text.get(it.start.at as usize..it.end.at as usize));
        if logprobs.is_some_and(|list| !matches!(list, "[]" | "null")) {
            return None;
        }
        let value = match self.nested {
            Some(value) => value,
            None => begins_with_type().and_then(|()| start(Slot::Value))?,
        };
        Some(LastDelta { text, varying: self.varying.values(), value, number: start(Slot::SequenceNumber) })
    }

    /// Sets the places of values in the data of another event, if it has this shape, and moves the matches of the last
    /// one.
    pub(crate) fn fit<'a>(
        &self,
        event: &EventInfo,
        data: &'a str,
        view: &mut View<'a>,
        matches: &mut Matches,
        outline: &mut Outline,
    ) -> Option<()> {
        if !std::ptr::eq(self.event?, event) {
            return None;
        }
        let values = self.varying.values();
        // All offsets fit.
        u32::try_from(data.len()).ok()?;
        let known = self.text.as_bytes();
        let mut scanner = Scanner::new(data);
        let mut shifts = Shifts::default();
        let mut at = 0;
        for (value, shift) in values.iter().zip(&mut shifts[1..]) {
            if !scanner.pass_same(known.get(at..value.start)?) {
                return None;
            }
            match self.replaceable.filter(|(start, _)| *start == value.start) {
                Some((_, schema)) => {
                    scanner.pass_same(known.get(value.start..value.start + 1)?).then_some(())?;
                    let end = Checker::end_of_valid(data, scanner.offset() - 1, schema, outline)?;
                    scanner.rewind(end);
                }
                None => drop(scanner.pass_alike(*known.get(value.start)?)?),
            }
            at = value.end;
            *shift = low(scanner.offset()).wrapping_sub(low(at));
        }
        let is_same = scanner.pass_same(known.get(at..)?) || {
            let brace = self.brace?;
            scanner.pass_same(known.get(at..brace)?) && scanner.pass_spaces() && scanner.pass_same(b"}")
        };
        if !is_same || scanner.offset() != data.len() {
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
        Some(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no text with offsets has 4 GiB")]
const fn low(offset: usize) -> u32 {
    offset as u32
}
