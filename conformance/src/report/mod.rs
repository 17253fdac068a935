//! What came of checking recordings, and how it is told.

mod human;
mod json;
mod run;
mod text;

pub use human::{Style, diagnostic, summary};
#[cfg(feature = "cli")]
pub(crate) use json::level_name;
pub use json::{VERSION, json};
pub use run::{CaptureReport, Located, Run, check};
