//! What came of checking recordings, and how it is told.

mod check;
mod html;
mod human;
mod json;
mod run;
mod source;
mod style;
mod summary;
mod text;
mod timeline;

pub use check::{check, check_with_timelines};
pub use html::html;
pub(crate) use human::clients;
pub use human::diagnostic;
pub use json::json;
pub use run::{
    Asked, Bar, Broken, CaptureReport, CaseReport, ClientTotal, Demand, Excerpt, FaultyEvent, Finding,
    Judged, LiveReport, Options, Outcome, Pace, Phase, Piece, Place, ProfileReport, ProfileState, Reason,
    Related, RuleTotal, Run, Silence, Specification, State, Timeline, Told, Totals, Transport, VERSION,
    Verdict,
};
pub use style::{Screen, Style};
pub use summary::summary;
pub(crate) use text::shortened;
#[cfg(feature = "cli")]
pub(crate) use text::wrap;
