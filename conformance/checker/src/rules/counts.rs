//! The rule about indices and sequence numbers.

use spec::{Odd, Slot};

use crate::engine::{Case, short};

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
        // Those of an unknown event are read from the usual members.
        let name = if record.known.is_some() { case.dialect().member(slot) } else { slot.name() };
        case.fault(&format!("/{name}"), WHOLE, &short(record.view.raw(slot).unwrap_or_default()), || {
            let why = match odd {
                Odd::Negative => "negative",
                Odd::Fractional => "not an integer",
                Odd::TooLarge => "larger than JSON parsers read exactly",
            };
            format!("{name} is {count}, which is {why}")
        });
    }
}
