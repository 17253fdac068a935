//! Names and files that commands read.

pub(in crate::cli) mod files;
pub(in crate::cli) mod known;
pub(in crate::cli) mod names;
pub(in crate::cli) mod saved;
pub(in crate::cli) mod small_file;
