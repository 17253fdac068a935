//! What commands read: names, files and settings.

pub(in crate::cli) mod config;
pub(in crate::cli) mod files;
pub(in crate::cli) mod names;
pub(in crate::cli) mod recordings;
pub(in crate::cli) mod saved;
pub(in crate::cli) mod small_file;
