//! The documentation that comes from the catalogue: the reference of rules, and what covers each normative
//! sentence. All of it is Markdown.

mod coverage;
mod rule;
pub(crate) mod words;

pub use coverage::coverage;
#[cfg(feature = "cli")]
pub(crate) use coverage::{duty, whose};
pub use rule::{groups, index, of_group, rule};
#[cfg(feature = "cli")]
pub(crate) use rule::{requirement, standing};
