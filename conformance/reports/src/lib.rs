//! Reports of a run, one renderer for each format, and the reference of rules.
//!
//! All of them see the model of a run alone.

mod between;
pub mod client;
pub mod diff;
mod form;
mod html;
mod human;
mod impact;
mod json;
pub mod pages;
mod reproduce;
mod run;
pub mod sheet;
mod source;
mod style;
mod summary;
mod terminal;
mod terms;
mod test;
mod twins;

pub use form::{Form, Reported, render, write};
pub use html::html;
pub use human::{diagnostic, diagnostics, obstacle};
pub use impact::{ImpactForm, impact_report};
pub use json::json;
pub use reproduce::reproduce;
pub use run::{ndjson_of_recording, ndjson_of_run};
pub use sheet::Sheet;
pub use style::{Detail, Screen, Style};
pub use summary::{Side, side_by_side, side_by_side_markdown, summary, twins};
pub use terms::dialects_of;
pub use twins::twins_in;
