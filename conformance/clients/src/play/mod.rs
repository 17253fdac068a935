//! How cases are played to a client, in each mode.

pub(crate) mod child;
pub(crate) mod intact;
pub(crate) mod serving;
pub(crate) mod spawn;
pub(crate) mod stage;
