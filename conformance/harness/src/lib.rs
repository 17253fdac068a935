//! The suite against an endpoint: sends scenarios, records exchanges, and computes all verdicts from this
//! evidence.

pub mod certificate;
mod compare;
mod file;
pub mod live;
mod progress;
pub mod suite;

pub use compare::{Compared, compare};
pub use file::replace;
pub use progress::ProgressLine;
pub use suite::Suite;
