//! The shape of an event, with which the next one is compared.

use crate::api::Slot;
use crate::delta::{Fragment, FragmentFrame, NextDelta};
use crate::event::EventInfo;
use crate::json::{Scanner, Varying};
use crate::view::View;

/// Maximum size of a kept event, in bytes.
const LONGEST: usize = 4096;

/// A valid event, and the values in it that may vary without affecting validity. The deltas of a text usually differ
/// only in these, so that the rest need not be validated again.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    event: Option<&'static EventInfo>,
    text: String,
    varying: Varying,
    slots: Vec<SlotPlace>,
    next: NextDelta,
    /// Whether the last event had it. Otherwise an event with it is valid, too, but does not repeat the last one.
    is_last: bool,
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
        text.clone_into(&mut self.text);
        self.next.learn(event, view, values);
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

    /// Returns the delta that follows the last event, if the data is one that has this shape.
    #[inline]
    pub(crate) fn fragment<'a>(&self, event: &EventInfo, data: &'a str) -> Option<Fragment<'a>> {
        self.next(event)?.in_data(data)
    }

    /// Returns the same for the frame at the start of a text.
    #[inline]
    pub(crate) fn fragment_of_frame<'a>(
        &self,
        event: &EventInfo,
        text: &'a str,
    ) -> Option<FragmentFrame<'a>> {
        self.next(event)?.in_frame(text)
    }

    #[inline]
    fn next(&self, event: &EventInfo) -> Option<&NextDelta> {
        (self.is_last && std::ptr::eq(self.event?, event)).then_some(&self.next)
    }

    /// Moves on by the delta that was returned.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.next.advance();
    }

    /// Sets the places of values in the data of another event, if it has this shape.
    pub(crate) fn fit<'a>(&mut self, event: &EventInfo, data: &'a str, view: &mut View<'a>) -> Option<()> {
        let values = self.varying.values();
        if !std::ptr::eq(self.event?, event) {
            return None;
        }
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
        view.set(data, self.is_last);
        self.is_last = true;
        for SlotPlace { slot, start, end } in &self.slots {
            view.put_place(*slot, (start.moved(&shifts), end.moved(&shifts)));
        }
        self.next.follow(view);
        Some(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no text with offsets has 4 GiB")]
const fn low(offset: usize) -> u32 {
    offset as u32
}
