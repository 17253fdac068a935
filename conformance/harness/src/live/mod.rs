//! Runs against endpoints: sends scenarios, records the responses, and judges the recordings.
//!
//! A [`Client`] makes recordings; all verdicts are functions of recordings alone, so that they can be computed again
//! from the [`Evidence`] of a run.

mod agree;
mod attempt;
mod batch;
mod call;
mod case;
mod client;
mod crowd;
mod evidence;
mod facts;
mod join;
mod limits;
mod mask;
mod models;
mod obstacle;
mod proxy;
mod reach;
mod reproduce;
mod run;
mod run_runtime;
mod seed;
mod socket;
mod spread;
mod target;
mod trials;
mod trust;
mod turns;
mod verdict;

pub use attempt::Attempt;
pub use batch::{begun, continued};
pub use call::{Call, Given, PreviousResponse, RequestContext, filled, not_given, wanted};
pub use case::{About, Case, Offer, cases};
pub use client::{Client, Outcome};
pub use crowd::latencies;
pub use evidence::{BUILD, Chain, Evidence, Kept, RunFile, SUITE, VERSION, hash};
pub use evidence::{CERTIFICATE, PAGE, REPORT, RUN, SIGNATURE};
pub use facts::Facts;
pub use limits::Limits;
pub use models::first_model;
pub use reach::{GivenUp, mark_answered};
pub(crate) use reproduce::command;
pub use run::{Budget, CaseOutcome, Live, Plan};
pub use run_runtime::{RunRuntime, ended};
pub use seed::{Seed, random_seed};
pub use target::secrets_of;
pub use target::{Target, TargetError};
pub use turns::{message, messages};
pub use verdict::judge;
pub(crate) use verdict::missed;
