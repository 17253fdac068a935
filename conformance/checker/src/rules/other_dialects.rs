//! Comparison of faults across dialects.

use spec::json::Fault;
use spec::{Dialect, Verdict};

use crate::engine::Record;

/// Computed lazily, and once.
pub(super) struct OtherDialects<C> {
    own: &'static Dialect,
    check: C,
    said: Vec<(&'static str, Option<Verdict>)>,
}

pub(super) fn of_record<'r>(
    record: &'r Record<'_>,
    own: &'static Dialect,
) -> OtherDialects<impl Fn(&'static Dialect) -> Option<Verdict> + 'r> {
    let check = |other: &'static Dialect| match record.root {
        Some(root) => Some(other.check_type(other.root(root)?, record.data())),
        None => Some(other.check_event(record.event_type.as_deref()?, record.data())),
    };
    OtherDialects { own, check, said: Vec::new() }
}

impl<C: Fn(&'static Dialect) -> Option<Verdict>> OtherDialects<C> {
    pub(super) fn is_fine(&mut self, other: &'static Dialect, fault: &Fault) -> bool {
        // The fault is one of its own dialect.
        if other.name == self.own.name {
            return false;
        }
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

fn covers(fault: &Fault, other: &Fault) -> bool {
    let missing = fault.kind.missing();
    if fault.pointer == other.pointer {
        return missing == other.kind.missing() || missing.is_none();
    }
    // Values of unknown types are not checked further.
    let holder = fault.pointer.strip_suffix("/type").unwrap_or(&fault.pointer);
    missing.is_none()
        && other.pointer.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
