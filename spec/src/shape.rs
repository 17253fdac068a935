//! The shape of an event, with which the next one is compared.

use crate::api::Slot;
use crate::delta::LastDelta;
use crate::event::EventInfo;
use crate::json::{Scanner, Varying};
use crate::view::View;

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
    slots: Vec<SlotPlace>,
    /// Where the text inside of other values starts, if it is there. The values of such an event are collected anew.
    nested: Option<usize>,
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
    /// Keeps the shape of a valid event. `nested` is the start of its text, if that is inside of other values.
    pub(crate) fn learn(
        &mut self,
        event: &'static EventInfo,
        view: &View<'_>,
        varying: &Varying,
        nested: Option<usize>,
    ) {
        let (text, values) = (view.text(), varying.values());
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
        self.slots.extend(view.places().map(|(slot, (start, end))| {
            let (start, end) = (offset(start), offset(end));
            SlotPlace { slot, start, end }
        }));
        self.varying = varying.clone();
        self.nested = nested;
    }

    /// Forgets the last event.
    pub(crate) const fn forget(&mut self) {
        self.event = None;
    }

    /// Returns the data of an event of this type with the shape of the last one, if that was a delta of a text without
    /// values that rules need.
    pub(crate) fn delta(&self, event: &EventInfo) -> Option<LastDelta<'_>> {
        if !std::ptr::eq(self.event?, event) {
            return None;
        }
        let place = |slot| self.slots.iter().find(|place| place.slot == slot);
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

    /// Sets the places of values in the data of another event, if it has this shape.
    pub(crate) fn fit<'a>(&self, event: &EventInfo, data: &'a str, view: &mut View<'a>) -> Option<()> {
        if self.nested.is_some() || !std::ptr::eq(self.event?, event) {
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
            scanner.pass_alike(*known.get(value.start)?)?;
            at = value.end;
            *shift = low(scanner.offset()).wrapping_sub(low(at));
        }
        if !scanner.pass_same(known.get(at..)?) || scanner.offset() != data.len() {
            return None;
        }
        view.set(data);
        view.set_repeats();
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
