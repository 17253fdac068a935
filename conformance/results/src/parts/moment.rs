//! The moments of a test of both ends of a gateway.

use serde::{Deserialize, Serialize};

/// Something that was sent or received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenMoment {
    /// When: in microseconds from the start of the test.
    pub at_us: u64,
    /// Where.
    pub side: BetweenSide,
    /// What: a request after `→`, or part of a response after `←`.
    pub what: String,
}

/// The sides of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BetweenSide {
    /// Between the client and the gateway.
    Client,
    /// Between the gateway and the upstream.
    Upstream,
}
