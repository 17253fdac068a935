//! Settings of a gateway.

use std::time::Duration;

use catalogue::Rule;
use spec::Dialect;

use super::log::Log;
use crate::faults::requested::Faults;
use crate::rendering::wire::WireFault;

/// Settings of a gateway.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// Dialects of other APIs that it speaks on the same port.
    pub beside: Vec<&'static Dialect>,
    /// Seed of random choices.
    pub seed: u64,
    /// The delay before every event.
    pub pace: Duration,
    /// Size of chunks; whole events if absent.
    pub chunk: Option<usize>,
    /// Number of fragments of a repeated text.
    pub fragments: usize,
    /// Rules to break in every response where that breaks no other rule.
    pub rules: Vec<&'static Rule>,
    /// Transport faults of streams.
    pub wire: Vec<WireFault>,
    /// Served models; if empty, all except names that begin with `no-such-` or `unknown-`.
    pub models: Vec<String>,
    /// Lifetime of a WebSocket.
    pub socket_limit: Duration,
    /// Origins of web pages that may read responses, in addition to this machine; `*` for all.
    pub origins: Vec<String>,
    /// The request log.
    pub log: Option<Log>,
}

impl Settings {
    /// Returns settings without faults.
    pub const fn new(dialect: &'static Dialect) -> Self {
        Self {
            dialect,
            beside: Vec::new(),
            seed: 0,
            pace: Duration::ZERO,
            chunk: None,
            fragments: 0,
            rules: Vec::new(),
            wire: Vec::new(),
            models: Vec::new(),
            socket_limit: Duration::from_secs(60 * 60),
            origins: Vec::new(),
            log: None,
        }
    }
    pub(super) fn note(&self, what: &str, faults: &Faults) {
        let Some(log) = &self.log else { return };
        let outcome = faults.outcome();
        log.line(&if outcome.is_empty() { what.to_owned() } else { format!("{what}; {outcome}") });
    }
}
