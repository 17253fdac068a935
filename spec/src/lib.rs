//! The streaming events of the Responses API, Messages, Chat Completions and Gemini, in every dialect.
//!
//! Each dialect is a module and a cargo feature. It has a [`Dialect`] with a strict validator and tables. The crate
//! `responses-conformance-types` has the events of the same dialects as types.

// Unit tests are about what dialects are made of. Dialects are tested from outside, so that they are compiled once.
// The dialect `openai` uses all of it; a build without it need not.
#![cfg_attr(any(test, not(feature = "openai")), allow(dead_code, unused_imports, unused_macros))]

mod api;
mod count;
mod decimal;
#[cfg(not(test))]
mod dialects;
mod enumeration;
mod event;
#[cfg(feature = "folders")]
pub mod folder;
pub mod json;
mod memory;
mod places;
mod signature;
pub mod table;
mod template;
mod verdict;
mod view;
mod watch;
mod words;

pub use api::{APIS, Api, FOREIGN, FORMATS, Scope, Slot, UNKNOWN_KEY, spoken};
pub use count::{Count, Odd};
pub use decimal::Decimal;
#[cfg(not(test))]
pub use dialects::*;
pub use enumeration::{Enumerations, ListedValue};
pub use event::EventInfo;
pub use json::Fault;
pub use memory::Memory;
pub use signature::{api_of_event, api_of_value, foreign_at, foreign_value, format_of, short_event};
pub use table::Dialect;
pub use template::{Fragment, FragmentFrame};
pub use verdict::Verdict;
pub use view::View;
pub use watch::Matches;
pub use words::Level;
