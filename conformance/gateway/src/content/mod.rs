//! What a response says: the plan of its content, by the request and its directives.

pub mod directive;
pub(crate) mod example;
pub(crate) mod given;
pub(crate) mod plan;
pub(crate) mod problem;
pub(crate) mod sample;
pub(crate) mod script;
