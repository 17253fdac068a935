//! The suite against an endpoint: sends scenarios, records exchanges, and computes all verdicts from this
//! evidence.

pub mod certificate;
mod compare;
mod digest;
pub mod evidence;
mod file;
#[doc(hidden)]
pub mod frozen;
pub mod judge;
pub mod live;
mod lock;
pub mod plan;
pub mod process;
mod progress;
mod recorded;
pub mod suite;
pub mod twins;
pub mod wire;

pub use compare::{Compared, compare};
pub use digest::hash;
pub use file::{LARGEST, Scratch, read_within, remove, replace};
pub use lock::lock;
pub use progress::ProgressLine;
pub use recorded::{Together, verify_together};
pub use suite::Suite;
