//! Shared code of the tests of this package.

pub mod chance;
pub mod corpus;
pub mod damages;
pub mod decided;
pub mod defects;
pub mod edited;
pub mod generated;
pub mod impact_page;
pub mod instances;
pub mod measuring;
pub mod members;
pub mod modules;
pub mod mutate;
pub mod playing;
pub mod questions;
pub mod random;
pub mod reorder;
pub mod sample;
pub mod samples;
pub mod suite;
pub mod typed;
pub mod write;

/// The examples of pages for Rust developers and of published crates are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../conformance/catalogue/README.md")]
#[doc = include_str!("../../conformance/checker/README.md")]
#[doc = include_str!("../../spec/README.md")]
#[doc = include_str!("../../spec/types/README.md")]
#[doc = include_str!("../../docs/rust.md")]
#[doc = include_str!("../../docs/types.md")]
struct Readme;
