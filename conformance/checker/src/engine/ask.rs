//! Calls of rules.

use super::bound::Bound;
use super::case::{At, Case};
use super::context::Context;
use super::finding::Findings;
use super::stream::Stream;

impl<'c> Context<'c> {
    #[inline]
    pub(super) fn ask<F: Copy>(
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
}
