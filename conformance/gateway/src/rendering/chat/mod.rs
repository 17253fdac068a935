//! Events and bodies of Chat Completions.

pub(in crate::rendering) mod chunks;
