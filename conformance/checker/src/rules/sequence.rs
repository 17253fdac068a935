//! Rules of the group `sequence`.

use spec::json::Fault;
use spec::table::UnknownEvents;
use spec::{Count, Verdict};

use super::other_dialects;
use crate::engine::{Case, FaultPlace};

pub(super) fn is_about_it(fault: &Fault) -> bool {
    fault.pointer == "/sequence_number"
        || fault.pointer.is_empty() && fault.kind.missing() == Some("sequence_number")
}

pub(super) fn present(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    match &record.verdict {
        Verdict::Invalid(faults, _) => {
            let Some(fault) = faults.iter().find(|fault| is_about_it(fault)) else { return };
            let mut others = other_dialects::of_record(record, case.dialect());
            case.fault_here(fault, &mut |other| others.is_fine(other, fault), &|| {
                if fault.pointer.is_empty() {
                    "the event has no sequence_number".to_owned()
                } else {
                    format!("the sequence_number is {}", fault.actual)
                }
            });
        }
        Verdict::Unknown
            if case.dialect().framing.unknown_events == UnknownEvents::Prefixed
                && record.event_type.is_some()
                && record.sequence_number.is_none() =>
        {
            let place = FaultPlace {
                pointer: Some(""),
                missing: Some("sequence_number"),
                expected: Some("property \"sequence_number\""),
                ..FaultPlace::WHOLE
            };
            case.report(&place, || "the vendor's event has no sequence_number".to_owned());
        }
        _ => {}
    }
}

pub(super) fn starts_at_zero(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let Some(number) = record.sequence_number.as_ref() else { return };
    // A stream that begins with a later event was resumed.
    if case.stream.events == 0 && *number != Count::Whole(0) && record.begins() {
        case.fault("/sequence_number", "0", &number.to_string(), || {
            format!("the first event has sequence_number {number}, not 0")
        });
    }
}

pub(super) fn grows(case: &mut Case<'_>) {
    let Some(number) = case.record().and_then(|record| record.sequence_number.as_ref()) else { return };
    let Some(before) = case.stream.sequence_number.as_ref().filter(|before| number <= *before) else {
        return;
    };
    case.fault("/sequence_number", "a number greater than the previous one", &number.to_string(), || {
        format!("sequence_number {number} follows {before}")
    });
}

pub(super) fn by_one(case: &mut Case<'_>) {
    let number = case.record().and_then(|record| record.sequence_number.as_ref()).and_then(Count::whole);
    let before = case.stream.sequence_number.as_ref().and_then(Count::whole);
    // Other rules report numbers that do not increase or are invalid.
    let Some((number, before)) = number.zip(before).filter(|(number, before)| *number > before + 1) else {
        return;
    };
    case.fault("/sequence_number", "the previous number plus 1", &number.to_string(), || {
        format!("sequence_number {number} follows {before}")
    });
}
