//! What requests of the Responses API ask for.

pub(crate) mod example;
pub(crate) mod script;
