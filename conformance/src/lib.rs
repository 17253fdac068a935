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
    dialects().find(|(known, _)| *known == name).map(|(_, dialect)| dialect)
}

/// All dialects, each by the names that it has.
pub fn dialects() -> impl Iterator<Item = (&'static str, &'static spec::Dialect)> {
    spec::DIALECTS.iter().flat_map(|dialect| {
        // A specification that is always in its latest version has the name of that version, too.
        let is_version =
            |name: &&str| name.strip_prefix(dialect.name).is_some_and(|rest| rest.starts_with('@'));
        let latest = dialect.lineage.first().copied().filter(is_version);
        [Some(dialect.name), latest].into_iter().flatten().map(|name| (name, *dialect))
    })
}
