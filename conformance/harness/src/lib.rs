//! The suite against an endpoint: scenarios are sent, what comes is written down, and all verdicts are
//! functions of that evidence.

pub mod certificate;
pub mod live;
mod progress;
pub mod suite;

pub use progress::ProgressLine;
pub use suite::Suite;
