//! How a plan becomes events and bodies, by the tables of a dialect.

pub(crate) mod edits;
pub(crate) mod emit;
pub(crate) mod fit;
pub(crate) mod ids;
pub(crate) mod items;
pub(crate) mod order;
pub(crate) mod parts;
pub(crate) mod response;
pub(crate) mod steps;
pub(crate) mod wire;
