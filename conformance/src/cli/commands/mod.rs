//! The commands, one file or folder each, and what only they have.

pub(in crate::cli) mod between;
pub(in crate::cli) mod check;
pub(in crate::cli) mod client;
pub(in crate::cli) mod completions;
pub(in crate::cli) mod dialects;
pub(in crate::cli) mod diff;
pub(in crate::cli) mod explain;
pub(in crate::cli) mod export;
pub(in crate::cli) mod impact;
pub(in crate::cli) mod import;
pub(in crate::cli) mod infer;
pub(in crate::cli) mod init;
pub(in crate::cli) mod list;
pub(in crate::cli) mod listening;
pub(in crate::cli) mod man;
pub(in crate::cli) mod parent;
pub(in crate::cli) mod record;
pub(in crate::cli) mod report;
pub(in crate::cli) mod serve;
pub(in crate::cli) mod sign;
pub(in crate::cli) mod suite;
pub(in crate::cli) mod tap;
pub(in crate::cli) mod vector;
pub(in crate::cli) mod verify;
pub(in crate::cli) mod via;
