//! Recordings of streams: [`capture`] reads and writes them in every format, [`check`] judges one from its
//! bytes to its report, [`shape`] tells what came in which order. [`goldens`] are the good ones that the
//! rules are proven on, and [`violation`] breaks them.

pub mod capture;
mod check;
mod curl;
pub mod goldens;
pub mod shape;
mod timeline;
pub mod violation;

pub use check::{Checking, check, check_with_timelines};
