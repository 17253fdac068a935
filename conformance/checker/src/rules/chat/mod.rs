//! Rules of Chat Completions.

pub(super) mod choice;
pub(super) mod request;
pub(super) mod tool_call;
pub(super) mod usage;
