//! What came of checking recordings, and how it is told.

mod check;
mod human;
mod json;
mod run;
mod source;
mod style;
mod summary;
mod text;

pub use check::check;
pub(crate) use human::clients;
pub use human::diagnostic;
pub use json::json;
pub use run::{
    Broken, CaptureReport, CaseReport, ClientTotal, Excerpt, Finding, Judged, LiveReport, Options, Outcome,
    Place, Related, RuleTotal, Run, State, Told, Totals, VERSION, Verdict,
};
pub use style::{Screen, Style};
pub use summary::summary;
pub(crate) use text::shortened;
#[cfg(feature = "cli")]
pub(crate) use text::wrap;
