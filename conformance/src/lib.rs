//! Conformance tests for streaming LLM APIs: Responses, Messages and Chat Completions.
//!
//! This crate contains the command, and reexports its parts: [`Checker`] checks a stream incrementally, [`check`] a
//! recording, and [`Suite`] an endpoint.

#[cfg(feature = "cli")]
pub mod cli;

pub use catalogue::{self, Level, Rule};
pub use checker::{self, Checker, Finding, Rules};
pub use gateway;
pub use harness::{self, Suite, certificate, compare, evidence, judge, live, plan, suite, wire};
pub use recordings::{self, capture, check, check_with_timelines, goldens, shape, violation};
pub use reports::{self, pages};
pub use results;
pub use spec::{self, Dialect, dialect, dialects};
