//! The shape of an event, by which the next one is known.

use std::ops::Range;

use super::Scanner;
use crate::table::{EventCheck, Slot};
use crate::view::View;

/// So many values of an event may vary.
const MOST: usize = 4;

/// Events of more bytes are not kept.
const LONGEST: usize = 4096;

/// Where the values of an event stand that any other text or whole number could stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Varying {
    values: [Range<usize>; MOST],
    count: usize,
}

/// A valid event, and what in it may vary without making it less valid. The deltas of a text mostly differ in
/// nothing else, and what was checked once need not be checked again for each of them.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// How events of its dialect are checked.
    check: Option<EventCheck>,
    event: String,
    text: String,
    varying: Varying,
    slots: Vec<SlotPlace>,
}

/// Where the value of a slot stands.
#[derive(Debug)]
struct SlotPlace {
    slot: Slot,
    value: Range<usize>,
    /// How many values that vary begin before it begins, and before it ends.
    behind: (usize, usize),
}

impl Varying {
    pub(super) fn add(&mut self, value: Range<usize>) {
        if let Some(place) = self.values.get_mut(self.count) {
            *place = value;
        }
        self.count += 1;
    }

    /// The values in their order. None, when there are too many.
    fn values(&self) -> &[Range<usize>] {
        self.values.get(..self.count).unwrap_or_default()
    }
}

impl Shape {
    /// Keeps the shape of a valid event.
    pub(crate) fn learn(&mut self, check: EventCheck, event: &str, view: &View<'_>, varying: &Varying) {
        self.forget();
        if varying.values().is_empty() || view.text().len() > LONGEST {
            return;
        }
        self.check = Some(check);
        event.clone_into(&mut self.event);
        view.text().clone_into(&mut self.text);
        let behind = |at: usize| varying.values().iter().filter(|value| value.start < at).count();
        self.slots.clear();
        self.slots.extend(view.places().map(|(slot, value)| {
            let behind = (behind(value.start), behind(value.end));
            SlotPlace { slot, value, behind }
        }));
        self.varying = varying.clone();
    }

    pub(crate) const fn forget(&mut self) {
        self.varying.count = 0;
    }

    /// What stands where in the data of another event, if they have this shape.
    pub(crate) fn fit<'a>(&self, check: EventCheck, event: &str, data: &'a str) -> Option<View<'a>> {
        let varying = self.varying.values();
        if varying.is_empty() || self.event != event || !std::ptr::fn_addr_eq(self.check?, check) {
            return None;
        }
        let known = self.text.as_bytes();
        let mut scanner = Scanner::new(data);
        // How much further on things stand, behind as many of the values that vary.
        let mut shifts = [0_usize; MOST + 1];
        let mut at = 0;
        for (value, shift) in varying.iter().zip(&mut shifts[1..]) {
            let is_same = scanner.pass_same(known.get(at..value.start)?);
            if !is_same || !scanner.pass_alike(*known.get(value.start)?) {
                return None;
            }
            at = value.end;
            *shift = scanner.offset().wrapping_sub(at);
        }
        if !scanner.pass_same(known.get(at..)?) || scanner.offset() != data.len() {
            return None;
        }
        let mut view = View::repeating(data);
        for SlotPlace { slot, value, behind } in &self.slots {
            let start = value.start.wrapping_add(shifts[behind.0]);
            view.put(*slot, (start, value.end.wrapping_add(shifts[behind.1])));
        }
        Some(view)
    }
}
