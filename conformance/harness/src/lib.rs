//! The suite against an endpoint: sends scenarios, records exchanges, and computes all verdicts from this
//! evidence.

pub mod certificate;
mod compare;
mod digest;
pub mod evidence;
mod file;
pub mod judge;
pub mod live;
pub mod plan;
mod progress;
pub mod suite;
pub mod wire;

pub use compare::{Compared, compare};
pub use digest::hash;
pub use file::replace;
pub use progress::ProgressLine;
pub use suite::Suite;
