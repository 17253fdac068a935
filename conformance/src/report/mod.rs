//! What came of checking recordings, and how it is told.

mod badge;
mod check;
pub mod diff;
mod form;
mod github;
mod html;
mod human;
mod json;
#[cfg(feature = "formats")]
mod junit;
mod markdown;
mod run;
#[cfg(feature = "formats")]
mod sarif;
mod source;
mod style;
mod summary;
mod text;
mod timeline;

#[cfg(feature = "live")]
pub(crate) use check::Checking;
pub use check::{check, check_with_timelines};
pub use form::{Form, render};
pub use html::html;
pub use human::{diagnostic, diagnostics};
pub use json::json;
#[cfg(feature = "live")]
pub(crate) use run::NO_CONNECTION;
pub(crate) use run::broken_clients;
pub use run::{
    Asked, Bar, Broken, CaptureReport, CaseReport, ClientTotal, Demand, Excerpt, FailingClients, Faults,
    FaultyEvent, Filters, Finding, GroupTotal, Judged, Latency, LiveReport, Lost, Matrix, MatrixColumn,
    MatrixRow, OTHER_RULES, Options, Outcome, Pace, Phase, Piece, Place, ProfileReport, ProfileState, Reason,
    Related, RuleTotal, Run, Silence, Specification, Spread, State, Step, Tally, Timeline, Told, Totals,
    Transport, Undecided, VERSION, Verdict,
};
pub use style::{Screen, Style};
#[cfg(feature = "suite")]
pub(crate) use summary::by_dialect;
pub use summary::summary;
#[cfg(feature = "cli")]
pub(crate) use text::wrap;
pub(crate) use text::{shortened, visible};
