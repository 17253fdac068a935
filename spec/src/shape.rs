//! The shape of an event, by which the next one is known.

use crate::json::{Scanner, Varying};
use crate::table::{EventInfo, Slot};
use crate::view::View;

/// Events of more bytes are not kept.
const LONGEST: usize = 4096;

/// A valid event, and what in it may vary without making it less valid. The deltas of a text mostly differ in
/// nothing else, and what was checked once need not be checked again for each of them.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    event: Option<&'static EventInfo>,
    text: String,
    varying: Varying,
    slots: Vec<SlotPlace>,
}

/// Where the value of a slot stands.
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
    /// How many values that vary begin before it.
    behind: usize,
}

impl Shape {
    /// Keeps the shape of a valid event.
    pub(crate) fn learn(&mut self, event: &'static EventInfo, view: &View<'_>, varying: &Varying) {
        self.forget();
        if varying.values().is_empty() || view.text().len() > LONGEST {
            return;
        }
        self.event = Some(event);
        view.text().clone_into(&mut self.text);
        let offset = |at: u32| {
            let behind = varying.values().iter().filter(|value| value.start < at as usize).count();
            Offset { at, behind }
        };
        self.slots.clear();
        self.slots.extend(view.places().map(|(slot, (start, end))| {
            let (start, end) = (offset(start), offset(end));
            SlotPlace { slot, start, end }
        }));
        self.varying = varying.clone();
    }

    pub(crate) const fn forget(&mut self) {
        self.varying.forget();
    }

    /// Sees what stands where in the data of another event, if they have this shape.
    pub(crate) fn fit<'a>(&self, event: &EventInfo, data: &'a str, view: &mut View<'a>) -> Option<()> {
        let varying = self.varying.values();
        if varying.is_empty() || !std::ptr::eq(self.event?, event) {
            return None;
        }
        let offset = |at: usize| u32::try_from(at).ok();
        let known = self.text.as_bytes();
        let mut scanner = Scanner::new(data);
        // How much further on things stand, behind as many of the values that vary.
        let mut shifts = [0_u32; Varying::MOST + 1];
        let mut at = 0;
        for (value, shift) in varying.iter().zip(&mut shifts[1..]) {
            let is_same = scanner.pass_same(known.get(at..value.start)?);
            if !is_same || !scanner.pass_alike(*known.get(value.start)?) {
                return None;
            }
            at = value.end;
            *shift = offset(scanner.offset())?.wrapping_sub(offset(at)?);
        }
        if !scanner.pass_same(known.get(at..)?) || scanner.offset() != data.len() {
            return None;
        }
        offset(data.len())?;
        view.repeat(data);
        let moved = |offset: &Offset| offset.at.wrapping_add(shifts[offset.behind]);
        for SlotPlace { slot, start, end } in &self.slots {
            view.put_place(*slot, (moved(start), moved(end)));
        }
        Some(())
    }
}
