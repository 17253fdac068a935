//! Checks whether streams of the Responses API are what their dialect promises.
//!
//! [`Checker`] judges a stream as it comes, without I/O and without a clock: inside a gateway's own
//! tests, or beside its live traffic. [`capture`] reads recordings of any format, and [`check`] judges
//! one from its bytes to its findings.

pub mod capture;
#[cfg(feature = "cli")]
pub mod cli;
pub mod engine;
pub mod goldens;
#[cfg(feature = "live")]
pub mod live;
#[cfg(feature = "live")]
pub mod reference;
pub mod report;
mod rules;
pub mod violation;

pub use engine::{Checker, Finding, Rules};
pub use report::check;
