//! Documentation generated from the catalogue, as Markdown: the reference of rules, and the coverage of
//! normative sentences.

mod coverage;
mod rule;
pub mod words;

pub use coverage::coverage;
pub use coverage::{duty, whose};
pub(crate) use rule::{REPOSITORY, address, in_repository};
pub use rule::{api, groups, index, of_group, rule};
pub use rule::{requirement, standing};
