//! Compares strings, numbers and booleans.

use serde_json::Value;

use super::change::{Breaks, Change};
use super::compare::Comparison;
use super::limits::ClassifiedChange;
use super::shape::Scalars;

impl<'d> Comparison<'d> {
    pub(super) fn scalars<R>(
        &mut self,
        path: &str,
        kind: &str,
        a: &Scalars<'d, R>,
        b: &Scalars<'d, R>,
        limits: impl FnOnce(&[R], &[R]) -> Vec<ClassifiedChange>,
    ) {
        match (a.is_empty(), b.is_empty()) {
            (true, true) => return,
            (false, false) => {}
            (added, _) => return self.variant(path, kind.to_owned(), added),
        }
        let beyond = |one: &[Value], other: &[Value]| -> Vec<Value> {
            one.iter().filter(|value| !other.contains(value)).cloned().collect()
        };
        let (added, removed) = (beyond(&b.known, &a.known), beyond(&a.known, &b.known));
        match (a.open.is_empty(), b.open.is_empty()) {
            (false, false) => {
                self.report(path, limits(&a.open, &b.open));
                if !added.is_empty() || !removed.is_empty() {
                    self.report(path, [(Change::SuggestionsChanged { added, removed }, Breaks::NOBODY)]);
                }
            }
            (false, true) => {
                self.report(path, [(Change::ValuesClosed { values: b.known.clone() }, Breaks::WRITER)]);
            }
            (true, false) => {
                self.report(path, [(Change::ValuesOpened { values: a.known.clone() }, Breaks::READER)]);
            }
            (true, true) => match (a.known.as_slice(), b.known.as_slice()) {
                ([from], [to]) if from != to => {
                    let change = Change::ConstantChanged { from: from.clone(), to: to.clone() };
                    self.report(path, [(change, Breaks::BOTH)]);
                }
                _ => {
                    let more = (!added.is_empty())
                        .then_some((Change::ValuesAdded { values: added }, Breaks::READER));
                    let less = (!removed.is_empty())
                        .then_some((Change::ValuesRemoved { values: removed }, Breaks::WRITER));
                    self.report(path, more.into_iter().chain(less));
                }
            },
        }
        if a.formats != b.formats {
            let named = |scalars: &Scalars<'_, R>| {
                let formats: Vec<&str> = scalars.formats.iter().copied().collect();
                (!formats.is_empty()).then(|| formats.join(" or "))
            };
            let change = Change::FormatChanged { from: named(a), to: named(b) };
            self.report(path, [(change, Breaks::NOBODY)]);
        }
    }
}
