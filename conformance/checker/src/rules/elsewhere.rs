//! What other dialects say of what one of them finds wrong.

use spec::json::Fault;
use spec::{Dialect, Verdict};

use crate::engine::Record;

/// What other dialects say of a value. Each is asked once, and only when it matters.
pub(super) struct Elsewhere<C> {
    check: C,
    said: Vec<(&'static str, Option<Verdict>)>,
}

/// What they say of an event.
pub(super) fn of_event<'r>(
    record: &'r Record<'_>,
) -> Elsewhere<impl Fn(&'static Dialect) -> Option<Verdict> + 'r> {
    Elsewhere::new(|other| Some(other.check_event(record.event_type.as_deref()?, record.data())))
}

impl<C: Fn(&'static Dialect) -> Option<Verdict>> Elsewhere<C> {
    /// Of a value that a dialect can be asked about in this way.
    pub(super) const fn new(check: C) -> Self {
        Self { check, said: Vec::new() }
    }

    /// Whether a dialect finds nothing wrong with what is at fault here.
    pub(super) fn is_fine(&mut self, other: &'static Dialect, fault: &Fault) -> bool {
        let at = self.said.iter().position(|(name, _)| *name == other.name).unwrap_or_else(|| {
            self.said.push((other.name, (self.check)(other)));
            self.said.len() - 1
        });
        match self.said.get(at) {
            Some((_, Some(Verdict::Valid))) => true,
            Some((_, Some(Verdict::Invalid(faults, 0)))) => !faults.iter().any(|other| covers(other, fault)),
            _ => false,
        }
    }
}

/// Whether a fault is another one too, or about what holds it.
fn covers(fault: &Fault, other: &Fault) -> bool {
    let missing = fault.kind.missing();
    if fault.pointer == other.pointer {
        return missing == other.kind.missing() || missing.is_none();
    }
    // What is of a type that is not known is not looked into.
    let holder = fault.pointer.strip_suffix("/type").unwrap_or(&fault.pointer);
    missing.is_none()
        && other.pointer.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
