//! The events and bodies of the Responses API.

pub(crate) mod emit;
mod fit;
pub(crate) mod ids;
mod items;
mod order;
mod parts;
pub(crate) mod response;
mod steps;
