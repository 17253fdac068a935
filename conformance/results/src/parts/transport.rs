//! How requests are sent, and answered.

use serde::{Deserialize, Serialize};

/// How requests are sent, and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// As requests of HTTP that are answered by streams of events.
    Sse,
    /// As requests of HTTP that are answered by one body of JSON.
    Json,
    /// As messages of a WebSocket.
    Websocket,
}

impl Transport {
    /// All transports.
    pub const ALL: [Self; 3] = [Self::Sse, Self::Json, Self::Websocket];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Json => "json",
            Self::Websocket => "websocket",
        }
    }

    /// The suffix of the name of a case, which follows the scenario's.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Sse => "",
            Self::Json => ".json",
            Self::Websocket => ".ws",
        }
    }

    /// The name of the scenario of a case.
    pub fn scenario(case: &str) -> &str {
        let known = [Self::Json, Self::Websocket];
        known.iter().find_map(|transport| case.strip_suffix(transport.suffix())).unwrap_or(case)
    }
}
