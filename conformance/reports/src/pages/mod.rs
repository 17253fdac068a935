//! The documentation that comes from the catalogue: the reference of rules, and what covers each normative
//! sentence. All of it is Markdown.

mod coverage;
mod rule;
pub mod words;

pub use coverage::coverage;
pub use coverage::{duty, whose};
pub use rule::{groups, index, of_group, rule};
pub use rule::{requirement, standing};
