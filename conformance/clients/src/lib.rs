//! The suite for clients: it plays normal, unusual and broken responses to a client, and compares the client's replies
//! with the responses.
//!
//! [`cases`] returns the cases of a dialect, [`ClientSuite`] runs a client against them. The client is a program that
//! speaks the [`protocol`], is started once for each case, or fetches its cases over HTTP.

mod cases;
mod certificate;
mod evidence;
mod impact;
mod journal;
mod judge;
mod play;
pub mod protocol;
mod suite;
mod verify;

pub use cases::case::{PlayedCase, request, transport};
pub use cases::shown::ShownResponse;
pub use cases::turns::PlayedTurn;
pub use cases::vectors::{
    VECTORS_VERSION, Vector, VectorCall, VectorContent, VectorFlag, VectorResponse, VectorResult, VectorRule,
    Vectors, vectors,
};
pub use cases::{cases, is_measured_only, measured_cases};
pub use certificate::{CERTIFICATE_VERSION, ClientCertificate, client_profiles, demanded_cases, is_of_api};
pub use checker::{Answer, ToolCall};
pub use impact::{Cache, ImpactClient, ImpactPackages, Recorded, Theatre, impact_clients, impact_packages};
pub use judge::judge;
pub use play::child::Ended;
pub use suite::{ClientSuite, Mode, REPORT};
pub use verify::{keep_run, make_room, statement, verify, verify_certificate};
