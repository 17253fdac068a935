//! What came of checking recordings, and how it is told.

mod human;
mod json;
mod run;
mod source;
mod style;
mod summary;
mod text;

pub use human::diagnostic;
#[cfg(feature = "cli")]
pub(crate) use human::{cited, clients};
#[cfg(feature = "cli")]
pub(crate) use json::level_name;
pub use json::{VERSION, json};
pub use run::{CaptureReport, Located, Run, check};
pub use style::{Screen, Style};
pub use summary::summary;
#[cfg(feature = "cli")]
pub(crate) use text::{cells, visible, wrap};
