//! Events and bodies of Messages.

mod blocks;
pub(in crate::rendering) mod message;
