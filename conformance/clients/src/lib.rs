//! The suite for clients: it plays normal, unusual and broken responses to a client, and compares the client's replies
//! with the responses.
//!
//! [`cases`] returns the cases of a dialect, [`ClientSuite`] runs a client against them. The client is a program that
//! speaks the [`protocol`], is started once for each case, or fetches its cases over HTTP.

mod case;
mod cases;
mod certificate;
mod child;
mod conversation;
mod event;
mod evidence;
mod impact;
mod intact;
mod journal;
mod judge;
mod member;
mod order;
mod played;
pub mod protocol;
mod requests;
mod retries;
mod serving;
mod shown;
mod spawn;
mod stage;
mod streams;
mod suite;
mod turns;
mod vectors;
mod verify;

pub use case::{PlayedCase, request, transport};
pub use cases::{cases, is_measured_only, measured_cases};
pub use certificate::{CERTIFICATE_VERSION, ClientCertificate, client_profiles, demanded_cases, is_of_api};
pub use checker::{Answer, ToolCall};
pub use child::Ended;
pub use impact::{Cache, ImpactClient, ImpactPackages, Recorded, Theatre, impact_clients, impact_packages};
pub use judge::judge;
pub use shown::ShownResponse;
pub use suite::{ClientSuite, Mode, REPORT};
pub use turns::PlayedTurn;
pub use vectors::{
    VECTORS_VERSION, Vector, VectorCall, VectorContent, VectorFlag, VectorResponse, VectorResult, VectorRule,
    Vectors, vectors,
};
pub use verify::{keep_run, make_room, statement, verify, verify_certificate};
