//! The result of validating a value.

use crate::api::Slot;
use crate::event::EventInfo;
use crate::json::{Checker, Fault, Problem, Scan, Schema};
use crate::view::View;
use crate::watch::Matches;

/// The result of validating a value against its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It matches the schema.
    Valid,
    /// The value has these faults, of which at most 256 are listed, and this number of others.
    Invalid(Vec<Fault>, usize),
    /// The dialect has no event or type of that name.
    Unknown,
    /// The text is not JSON: the problem, and the byte offset.
    NotJson(Problem, usize),
}

impl Verdict {
    /// Returns whether the value matches its schema.
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// Returns the faults, if there are any.
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::Invalid(faults, _) => faults,
            _ => &[],
        }
    }
}

/// Validates a whole event, and collects the values of its effects. The values of an unknown one are read from their
/// default places.
pub(crate) fn fill<'a>(
    view: &mut View<'a>,
    event: Option<&EventInfo>,
    checker: &mut Checker<'a, '_>,
    matches: Option<&mut Matches>,
) -> Verdict {
    let Some(event) = event else {
        let taken = view.take_members(checker, Slot::USUAL);
        if taken.and_then(|()| checker.check(&Schema::Any)).and_then(|()| checker.scanner.end()).is_err() {
            *view = View::new(view.text);
        }
        return Verdict::Unknown;
    };
    let scan = event.schema.read(checker, view);
    view.is_newer = checker.is_newer;
    let verdict = verdict(scan, checker);
    if let (Some(matches), Some(watch)) = (matches, event.schema.watch())
        && !matches!(verdict, Verdict::NotJson(..))
    {
        // Of members with one name, all count.
        let known = checker.outline.members().filter(|_| verdict.is_valid() && view.text.starts_with('{'));
        matches.collect(event, watch, view, known);
    }
    verdict
}

pub(crate) fn verdict(scan: Scan<()>, checker: &mut Checker<'_, '_>) -> Verdict {
    if scan.and_then(|()| checker.scanner.end()).is_err() {
        return Verdict::NotJson(checker.scanner.problem(), checker.scanner.offset());
    }
    if checker.is_clean() {
        return Verdict::Valid;
    }
    let (faults, more) = checker.finish();
    Verdict::Invalid(faults, more)
}
