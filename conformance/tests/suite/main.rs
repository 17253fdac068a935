//! The suite as a library, and what starts the command and cannot be shown as text: see also `commands/README.md`.
#![cfg(feature = "cli")]

mod capture;
mod documents;
mod engine;
mod fixes;
mod fuzzing;
mod gateway;
mod http;
mod lanes;
#[cfg(unix)]
mod limits;
mod matrix;
mod merge;
mod neutral;
mod properties;
mod readme;
mod reference;
mod renamed;
mod report;
mod reshaped;
mod serving;
mod socket;
mod tiny;

#[allow(unreachable_pub, reason = "it is a package of its own, too")]
#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;
