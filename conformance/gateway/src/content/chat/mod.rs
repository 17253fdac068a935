//! Content of Chat Completions.

pub(crate) mod example;
pub(crate) mod script;
