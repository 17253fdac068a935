//! A gateway that answers as every dialect promises, and breaks exactly the rules it is told to.
//!
//! [`plan`] decides what the answer to a request is, [`answer`] makes the events of it; both are pure. What
//! a request can ask for is told in [`directive`].

pub mod directive;
mod emit;
mod example;
mod fault;
mod fit;
mod items;
mod plan;
mod problem;
mod response;
mod sample;
mod script;
mod voice;

pub use emit::{Answer, answer};
pub use example::{example, examples};
pub use fault::{Wire, faults, respond};
pub use plan::{Ending, Fragments, Item, Part, Plan, Thought, tokens};
pub use problem::{Problem, refusal};
pub use script::plan;
