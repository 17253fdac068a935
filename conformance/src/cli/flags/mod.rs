//! Flags that several commands have.

pub(in crate::cli) mod apis;
pub(in crate::cli) mod baseline;
pub(in crate::cli) mod dialect;
pub(in crate::cli) mod expected;
pub(in crate::cli) mod live;
pub(in crate::cli) mod output;
pub(in crate::cli) mod play;
pub(in crate::cli) mod select;
pub(in crate::cli) mod selection;
pub(in crate::cli) mod snapshots;
pub(in crate::cli) mod target;
pub(in crate::cli) mod theatre;
pub(in crate::cli) mod verdict;
