//! The rule about indices and sequence numbers.

use spec::{Odd, Slot};

use crate::engine::{Case, Object, Record, short};

/// The expected value of an index or a sequence number.
const WHOLE: &str = "an integer from 0 to 9007199254740991";

pub(super) fn whole_numbers(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    for (slot, count) in record.view.counts() {
        let Some(odd) = count.odd() else { continue };
        // The indices of an unknown event have no known meaning.
        if slot != Slot::SequenceNumber && record.known.is_none() {
            continue;
        }
        let name = slot.name();
        let pointer = pointer_to(record, slot);
        case.fault(&pointer, WHOLE, &short(record.view.raw(slot).unwrap_or_default()), || {
            let why = match odd {
                Odd::Negative => "negative",
                Odd::Fractional => "not an integer",
                Odd::TooLarge => "larger than JSON parsers read exactly",
            };
            format!("{name} is {count}, which is {why}")
        });
    }
}

/// Returns the pointer to the value of a slot, which some dialects rename.
fn pointer_to(record: &Record<'_>, slot: Slot) -> String {
    let usual = format!("/{}", slot.name());
    let raw = record.view.raw(slot).map(str::as_ptr);
    let is_set = |pointer: &str| spec::json::at(record.data(), pointer).map(str::as_ptr) == raw;
    if is_set(&usual) {
        return usual;
    }
    let object = Object::new(record.data());
    let found = object.members().find(|(_, value)| Some(value.as_ptr()) == raw);
    found.map_or(usual, |(name, _)| format!("/{name}"))
}
