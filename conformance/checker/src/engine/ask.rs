//! Calls of rules.

use super::bound::Bound;
use super::case::{At, Case};
use super::context::Context;
use super::finding::Findings;
use super::location::SavedLocation;
use super::record::Record;
use super::stream::Stream;

impl<'c> Context<'c> {
    /// Calls rules, one after the other.
    #[inline]
    pub(super) fn ask<F: Copy>(
        self,
        rules: &[(Bound, F)],
        record: &'c Record<'c>,
        stream: &'c Stream,
        findings: &'c mut Findings,
        ask: impl FnMut(F, &mut Case<'c>),
    ) {
        self.ask_at(At::Record(record), rules, stream, findings, ask);
    }

    /// Calls rules about a body, or about an item of its output. Their pointers into events become pointers into the
    /// body.
    pub(super) fn ask_of_body<F: Copy>(
        self,
        rules: &[(Bound, F)],
        (record, item): (&'c Record<'c>, Option<usize>),
        stream: &'c Stream,
        findings: &'c mut Findings,
        ask: impl FnMut(F, &mut Case<'c>),
    ) {
        self.ask_at(At::Body(record, item), rules, stream, findings, ask);
    }

    #[inline]
    fn ask_at<F: Copy>(
        self,
        at: At<'c>,
        rules: &[(Bound, F)],
        stream: &'c Stream,
        findings: &'c mut Findings,
        mut ask: impl FnMut(F, &mut Case<'c>),
    ) {
        let Some((first, _)) = rules.first() else { return };
        let mut case = Case::new(*first, self, at, stream, findings);
        for (bound, code) in rules {
            case.bound = *bound;
            ask(*code, &mut case);
        }
    }

    /// Creates a case for the end of the stream.
    pub(super) fn case_at(
        self,
        bound: Bound,
        last: &'c SavedLocation,
        stream: &'c Stream,
        findings: &'c mut Findings,
    ) -> Case<'c> {
        Case::new(bound, self, At::SavedLocation(last), stream, findings)
    }
}
