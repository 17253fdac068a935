//! Rules about indices, sequence numbers and token counts.

use catalogue::Level;
use spec::table::CountPlace;
use spec::{Odd, Slot};

use crate::engine::{Case, Object, Snapshot, Usage, short};

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

pub(super) fn details_within_response(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let member = case.dialect().api.usage.member;
    details_within(case, &snapshot.usage, |count| snapshot.pointer(&format!("{member}/{count}")));
}

/// Counts must not be negative, and a part must not be larger than the whole. `pointer` locates one of them.
pub(super) fn details_within(case: &mut Case<'_>, usage: &Usage, pointer: impl Fn(&str) -> String) {
    let places = case.dialect().api.usage;
    let name = |(member, inner): CountPlace| {
        [Some(member), inner].into_iter().flatten().collect::<Vec<_>>().join("/")
    };
    for (place, count) in [
        (places.input, usage.input),
        (places.output, usage.output),
        (places.total, usage.total),
        (places.cached, usage.cached),
        (places.reasoning, usage.reasoning),
    ] {
        let Some(count) = count.filter(|count| *count < 0.0) else { continue };
        let name = name(place);
        case.fault(&pointer(&name), "at least 0", &count.to_string(), || format!("usage/{name} is {count}"));
    }
    case.limit(Level::Should);
    for (whole, all, part, part_of) in [
        (places.input, usage.input, places.cached, usage.cached),
        (places.output, usage.output, places.reasoning, usage.reasoning),
    ] {
        let Some((part_of, all)) = part_of.zip(all).filter(|(part, all)| part > all) else { continue };
        exceeds(case, &pointer(&name(part)), (part.1.unwrap_or(part.0), part_of), (whole.0, all));
    }
}

/// Parts that are counted apart must sum to the total. The pointer locates their object; `named` says what they count.
pub(super) fn parts_sum_to(
    case: &mut Case<'_>,
    pointer: &str,
    usage: &Object<'_>,
    (total, parts): (&str, &[&str]),
    named: &str,
) {
    let Some(whole) = usage.number(total) else { return };
    let sum: f64 = parts.iter().filter_map(|part| usage.number(part)).sum();
    if (sum - whole).abs() > 0.5 {
        case.fault(&format!("{pointer}/{total}"), &sum.to_string(), &whole.to_string(), || {
            format!("{total} is {whole}, but {named} are {sum}")
        });
    }
}

/// A part of a count must not be larger than the whole.
pub(super) fn exceeds(
    case: &mut Case<'_>,
    pointer: &str,
    (part, count): (&str, f64),
    (whole, all): (&str, f64),
) {
    case.fault(pointer, &format!("at most {all}"), &count.to_string(), || {
        format!("{part} is {count}, but {whole} is only {all}")
    });
}
