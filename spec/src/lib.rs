//! The streaming events of the Responses API, in every dialect.
//!
//! Each dialect is a module and a cargo feature. It has an `Event` that borrows from the parsed text, keeps all data
//! and accepts unknown values, and a [`Dialect`] with a strict validator and tables for programs that handle all
//! dialects. Programs that need only the latter build faster without the default feature `types`.

#[cfg(all(test, feature = "types"))]
mod constructors;
mod count;
mod delta;
mod event;
pub mod json;
mod shape;
pub mod table;
mod view;

pub use count::{Count, Odd};
pub use delta::{Fragment, FragmentFrame};
pub use json::Fault;
pub use table::{Dialect, EventInfo, Level, Memory, Scope, Slot, Verdict};
pub use view::View;

include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

/// Returns the dialect with this name.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    dialects().find(|(known, _)| *known == name).map(|(_, dialect)| dialect)
}

/// Returns all dialects of this build, each with its names.
pub fn dialects() -> impl Iterator<Item = (&'static str, &'static Dialect)> {
    DIALECTS.iter().flat_map(|dialect| {
        // A dialect that is always the latest version of a specification also has the name of that version.
        let is_version =
            |name: &&str| name.strip_prefix(dialect.name).is_some_and(|rest| rest.starts_with('@'));
        let latest = dialect.lineage.first().copied().filter(is_version);
        [Some(dialect.name), latest].into_iter().flatten().map(|name| (name, *dialect))
    })
}

#[cfg(all(doctest, feature = "types", feature = "openai"))]
#[doc = include_str!("../../docs/types.md")]
struct Examples;
