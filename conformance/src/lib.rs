//! Checks whether streams of the Responses API are what their dialect promises.
//!
//! [`Checker`] judges a stream as it comes, without I/O and without a clock: inside a gateway's own
//! tests, or beside its live traffic. [`capture`] reads recordings of any format, and [`check`] judges
//! one from its bytes to its findings.

pub mod capture;
#[cfg(feature = "live")]
pub mod certificate;
#[cfg(feature = "cli")]
pub mod cli;
pub mod engine;
pub mod goldens;
#[cfg(feature = "live")]
pub mod live;
pub mod pages;
#[cfg(feature = "live")]
pub mod reference;
pub mod report;
mod rules;
pub mod shape;
#[cfg(feature = "suite")]
pub mod suite;
pub mod violation;

pub use engine::{Checker, Finding, Rules};
pub use report::check;
#[cfg(feature = "suite")]
pub use suite::Suite;

/// The dialect of that name.
pub fn dialect(name: &str) -> Option<&'static spec::Dialect> {
    // A specification that is always in its latest version has the name of that version, too.
    let is_latest = |dialect: &spec::Dialect| {
        let rest = name.strip_prefix(dialect.name);
        dialect.lineage.first() == Some(&name) && rest.is_some_and(|rest| rest.starts_with('@'))
    };
    let by_name = spec::DIALECTS.iter().find(|dialect| dialect.name == name);
    by_name.or_else(|| spec::DIALECTS.iter().find(|dialect| is_latest(dialect))).copied()
}
