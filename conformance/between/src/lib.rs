//! The suite for both ends of a gateway: a scripted upstream stands behind it, a client asks in front of it, and what passes
//! between them is judged.
//!
//! Verdicts are computed from the recordings of both sides alone, so that they can be computed again.

mod certificate;
mod client;
mod command;
mod connection;
mod content;
mod dialects;
pub mod evidence;
pub mod folder;
mod judge;
mod keys;
mod mark;
mod merge;
mod moments;
mod plan;
mod question;
mod reference;
mod refusals;
mod run;
mod session;
mod settings;
mod upstream;
mod verify;

pub use certificate::{
    BETWEEN_CERTIFICATE_VERSION, BETWEEN_PROFILE_VERSION, BetweenCertificate, BetweenProfile, MetLimit,
    certify, statement, verify_certificate,
};
pub use command::{GATEWAY_PORT, GatewayCommand, StartedGateway, UPSTREAM_BASE_URL, UPSTREAM_KEY};
pub use dialects::{front_dialect, upstream_dialect};
pub use judge::{Judged, SESSION_GROUPS, judge, unused_limits};
pub use merge::merge;
pub use moments::moments;
pub use plan::{names_of, names_of_pair, tests};
pub use reference::Reference;
pub use run::{Detected, Suite};
pub use session::{Session, judge_ends, read_sessions};
pub use settings::{Pair, Settings};
pub use verify::verify;
