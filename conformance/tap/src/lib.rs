//! A reverse proxy that changes no byte, and judges a copy of what passes.
//!
//! [`serve`] passes requests and responses as they come. Each exchange is copied into [`Passed`], within a limit of memory,
//! and [`Judges`] read the copies on threads of their own. Whatever happens to a copy, its exchange goes on.

mod admin;
mod copy;
mod evidence;
mod judge;
mod lost;
mod metrics;
mod otlp;
mod outcome;
mod passed;
mod proxy;
mod queue;
mod socket;
mod turns;

pub use admin::serve_metrics;
pub use evidence::{Evidence, Keep, Limits};
pub use judge::{Judge, Judged};
pub use lost::Lost;
pub use metrics::Metrics;
pub use otlp::Otlp;
pub use outcome::{Outcome, Told, Turn, Watched};
pub use passed::{Ended, Message, Passed};
pub use proxy::{Proxy, Sample, Upstream, serve};
pub use queue::{Judges, Queue};
