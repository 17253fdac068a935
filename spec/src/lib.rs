//! The streaming events of the Responses API, in every dialect that the specification's files describe.
//!
//! Each dialect is a module (and a cargo feature): an `Event` that borrows from the text it was read
//! from, loses nothing, and never fails on what it does not know; and a [`Dialect`] with a strict
//! validator and tables for programs that treat all dialects alike.

pub mod json;
pub mod table;
mod view;

pub use json::Fault;
pub use table::{Dialect, EventInfo, Level, Memory, Scope, Slot, Verdict};
pub use view::View;

include!(concat!(env!("OUT_DIR"), "/dialects.rs"));
