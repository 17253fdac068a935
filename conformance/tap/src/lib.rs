//! A reverse proxy that changes no byte, and judges a copy of what passes.
//!
//! [`serve`] passes requests and responses as they come. What passes is copied into [`Passed`], within a limit of memory,
//! and [`Judges`] read the copies on threads of their own. Whatever happens to a copy, its exchange goes on.

mod admin;
mod copy;
mod evidence;
mod judge;
mod metrics;
mod proxy;
mod queue;

pub use admin::serve_metrics;
pub use copy::{Ended, Passed};
pub use evidence::{Evidence, Keep};
pub use judge::{Judge, Judged, Outcome};
pub use metrics::Metrics;
pub use proxy::{Proxy, Upstream, serve};
pub use queue::{Judges, Lost, Queue};
