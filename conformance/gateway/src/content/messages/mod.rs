//! Content of Messages.

pub(crate) mod example;
pub(crate) mod script;
