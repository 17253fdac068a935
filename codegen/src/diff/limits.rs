//! Compares the limits of strings, numbers, lists and objects.

use serde_json::Value;

use crate::schema::{Array, Object, StringRules};

use super::change::{Breaks, Change};
use super::shape::Number;

/// A difference and the sides that it breaks, without its place.
pub(super) type ClassifiedChange = (Change, Breaks);

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Lower,
    Upper,
}

/// In a union with several kinds of string, the loosest limits count.
pub(super) fn strings(a: &[&StringRules], b: &[&StringRules]) -> Vec<ClassifiedChange> {
    let (a, b) = (loosest(a), loosest(b));
    let bounds = [
        bound("minLength", End::Lower, a.min_length, b.min_length),
        bound("maxLength", End::Upper, a.max_length, b.max_length),
    ];
    let source =
        |rules: &StringRules| rules.pattern.as_ref().map(|pattern| Value::from(pattern.source.as_str()));
    let (from, to) = (source(&a), source(&b));
    let breaks = match (&from, &to) {
        (None, Some(_)) => Breaks::WRITER,
        (Some(_), None) => Breaks::READER,
        _ => Breaks::BOTH,
    };
    let pattern = (from != to).then_some((Change::LimitChanged { limit: "pattern", from, to }, breaks));
    bounds.into_iter().chain([pattern]).flatten().collect()
}

fn loosest(rules: &[&StringRules]) -> StringRules {
    let Some((first, rest)) = rules.split_first() else { return StringRules::default() };
    rest.iter().fold((*first).clone(), |loose, next| StringRules {
        min_length: loose.min_length.zip(next.min_length).map(|(x, y)| x.min(y)),
        max_length: loose.max_length.zip(next.max_length).map(|(x, y)| x.max(y)),
        pattern: loose.pattern.filter(|pattern| next.pattern.as_ref() == Some(pattern)),
    })
}

/// In a union, the loosest limits count.
pub(super) fn numbers(a: &[Number<'_>], b: &[Number<'_>]) -> Vec<ClassifiedChange> {
    let lowest = |numbers: &[Number<'_>]| {
        let limits: Option<Vec<f64>> = numbers.iter().map(|number| number.range.minimum).collect();
        limits.and_then(|limits| limits.into_iter().reduce(f64::min))
    };
    let highest = |numbers: &[Number<'_>]| {
        let limits: Option<Vec<f64>> = numbers.iter().map(|number| number.range.maximum).collect();
        limits.and_then(|limits| limits.into_iter().reduce(f64::max))
    };
    let bounds = [
        bound("minimum", End::Lower, lowest(a), lowest(b)),
        bound("maximum", End::Upper, highest(a), highest(b)),
    ];
    bounds.into_iter().flatten().collect()
}

pub(super) fn arrays(a: &Array, b: &Array) -> Vec<ClassifiedChange> {
    let bounds = [
        bound("minItems", End::Lower, a.min_items, b.min_items),
        bound("maxItems", End::Upper, a.max_items, b.max_items),
    ];
    bounds.into_iter().flatten().collect()
}

pub(super) fn objects(a: &Object, b: &Object) -> Vec<ClassifiedChange> {
    bound("maxProperties", End::Upper, a.max_properties, b.max_properties).into_iter().collect()
}

fn bound<T: Copy + PartialOrd + ToString>(
    limit: &'static str,
    end: End,
    from: Option<T>,
    to: Option<T>,
) -> Option<ClassifiedChange> {
    let tighter = match (from, to) {
        (None, None) => return None,
        (Some(from), Some(to)) if from == to => return None,
        (Some(from), Some(to)) => (to > from) == (end == End::Lower),
        (from, _) => from.is_none(),
    };
    // Formatted as text, so that the limit 64 of a number is not written 64.0.
    let number = |value: T| serde_json::from_str(&value.to_string()).unwrap_or_default();
    let change = Change::LimitChanged { limit, from: from.map(number), to: to.map(number) };
    Some((change, if tighter { Breaks::WRITER } else { Breaks::READER }))
}
