//! Every legal stream of an API.
//!
//! The table of an API and its event files say what may follow what; the goldens have a value for each. From these
//! alone, [`Grammar`] decides which events may come next, [`Streams`] enumerates the streams up to a number of events,
//! and [`write`](Grammar::write) makes a stream of them that keeps every rule.

mod bounds;
mod enumeration;
mod exercise;
mod grammar;
mod kinds;
mod known;
mod lifecycle;
mod read;
mod state;
mod step;
mod streams;
mod templates;
mod walk;
mod window;
mod write;

pub use bounds::Bounds;
pub use enumeration::Enumeration;
pub use exercise::{Claim, exercised};
pub use grammar::Grammar;
pub use lifecycle::Lifecycle;
pub use read::Steps;
pub use state::StreamState;
pub use step::{Key, Move, Nesting, Step, renumbered, words};
pub use streams::Streams;
pub use walk::{Observed, Walk};
pub use window::{Stage, Window};
