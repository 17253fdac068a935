//! The formats of recordings.

use serde::{Deserialize, Serialize};

/// How a recording is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A stream of server-sent events.
    Sse,
    /// One event a line.
    Ndjson,
    /// A list of events, a response that is no stream, or exchanges as recorders of tests keep them.
    Json,
    /// An HTTP answer: status, headers, body. What `curl -i` prints.
    Http,
    /// The messages of a WebSocket connection, one JSON object a line.
    WebSocket,
    /// An HTTP archive (HAR 1.2).
    Har,
    /// A YAML cassette of VCR, one of its kin, or httpmock.
    Cassette,
    /// A text archive of Go's tests, with answers in its files.
    Txtar,
    /// An exchange, as the suite writes it down.
    Exchange,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Sse,
        Self::Ndjson,
        Self::Json,
        Self::Http,
        Self::WebSocket,
        Self::Har,
        Self::Cassette,
        Self::Txtar,
        Self::Exchange,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Ndjson => "ndjson",
            Self::Json => "json",
            Self::Http => "http",
            Self::WebSocket => "websocket",
            Self::Har => "har",
            Self::Cassette => "cassette",
            Self::Txtar => "txtar",
            Self::Exchange => "exchange",
        }
    }
}
