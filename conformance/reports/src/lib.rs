//! Reports of a run, one renderer for each format, and the reference of rules.
//!
//! All of them see the model of a run alone.

mod badge;
mod between;
pub mod client;
pub mod diff;
mod form;
mod github;
mod html;
mod human;
mod impact;
mod json;
mod junit;
mod markdown;
mod ndjson;
pub mod pages;
mod reproduce;
mod sarif;
pub mod sheet;
mod source;
mod style;
mod summary;
mod terms;
mod twins;

pub use form::{Form, render, write};
pub use html::html;
pub use human::{diagnostic, diagnostics, obstacle};
pub use impact::{ImpactForm, impact_report};
pub use json::json;
pub use ndjson::{ndjson, ndjson_of_recording, ndjson_of_run};
pub use reproduce::reproduce;
pub use sheet::{Reported, Sheet, TestsDiff, tests_report};
pub use style::{Detail, Screen, Style};
pub use summary::{Side, side_by_side, side_by_side_markdown, summary, twins};
pub use terms::dialects_of;
pub use twins::twins_in;
