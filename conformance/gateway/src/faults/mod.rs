//! Faults: responses that break a rule, as a request selects them.

pub(crate) mod list;
pub(crate) mod regardless;
pub(crate) mod requested;
pub(crate) mod socket;
pub(crate) mod violation;
