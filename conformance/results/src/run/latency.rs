//! How fast concurrent streams were.

use serde::{Deserialize, Serialize};

/// The latency of the streams of a case. It has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Latency {
    /// The case.
    pub case: String,
    /// Number of streams.
    pub streams: usize,
    /// From the request to the first event.
    pub first_event: Spread,
    /// From an event to the next, when there were two.
    pub between_events: Option<Spread>,
    /// From the request to the last event.
    pub total: Spread,
}

/// Percentiles of times, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Median.
    pub p50_us: u32,
    /// 90th percentile.
    pub p90_us: u32,
    /// 99th percentile.
    pub p99_us: u32,
    /// Maximum.
    pub max_us: u32,
}

impl Latency {
    /// The median as text, with the 99th percentile in parentheses.
    pub fn words(&self) -> String {
        let between = self.between_events.map(|spread| format!(", event to event {}", spread.words()));
        format!(
            "{} streams: first event {}{}, total {}",
            self.streams,
            self.first_event.words(),
            between.unwrap_or_default(),
            self.total.words()
        )
    }
}

impl Spread {
    fn words(&self) -> String {
        let ms = |us: u32| f64::from(us) / 1000.0;
        // No line break before a unit.
        format!("{:.1}\u{a0}ms\u{a0}({:.1})", ms(self.p50_us), ms(self.p99_us))
    }
}
