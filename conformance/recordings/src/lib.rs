//! Recordings of streams: [`capture`] reads and writes all formats, [`check`] produces reports, [`shape`]
//! describes the order of events. [`goldens`] are good recordings that prove the rules, and [`violation`]
//! edits them.

pub mod capture;
mod check;
mod curl;
pub mod goldens;
mod logs;
pub mod shape;
mod timeline;
pub mod violation;

pub use check::{Checking, check, check_with_timelines};
