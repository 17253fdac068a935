//! The types of values.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Those of the goldens that were read.
static KINDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Returns a type that a grammar has; none if no golden has it.
pub(crate) fn known(kind: &str) -> Option<&'static str> {
    KINDS.lock().unwrap_or_else(PoisonError::into_inner).get(kind).copied()
}

/// Returns the type of a value in a golden, which is kept for good.
pub(crate) fn keep(kind: &str) -> &'static str {
    let mut kinds = KINDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kinds.get(kind) {
        return known;
    }
    let kind: &'static str = kind.to_owned().leak();
    kinds.insert(kind);
    kind
}
