//! Judges what an endpoint sent. Verdicts depend on recordings alone, so that they can be computed again from the
//! [`Evidence`](crate::evidence::Evidence) of a run.

mod agree;
mod answer;
mod attempt;
mod crowd;
mod differences;
mod facts;
mod facts_reader;
mod foreign;
mod items;
mod join;
mod latency;
mod obstacle;
mod reach;
mod responses;
mod unsupported;
mod verdict;

pub(crate) use answer::{answer, missed};
pub use attempt::Attempt;
pub(crate) use attempt::Reading;
pub use facts::Facts;
pub(crate) use foreign::foreign;
pub use latency::latencies;
pub(crate) use obstacle::status_line;
pub use reach::GivenUp;
pub(crate) use reach::{Reach, mark_answered};
pub use verdict::verdict;
