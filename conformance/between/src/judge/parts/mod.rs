//! Helpers of all judges.

pub(super) mod findings;
pub(super) mod framing;
pub(super) mod progress;
pub(super) mod turn;
pub(super) mod values;
