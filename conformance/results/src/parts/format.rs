//! The formats of recordings.

use serde::{Deserialize, Serialize};

/// The format of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A stream of server-sent events.
    Sse,
    /// One event per line.
    Ndjson,
    /// A list of events, a non-streaming response, or exchanges of test recorders.
    Json,
    /// An HTTP response as printed by `curl -i`: status, headers, body.
    Http,
    /// WebSocket messages, one JSON object per line.
    WebSocket,
    /// An HTTP archive (HAR 1.2).
    Har,
    /// A YAML cassette of VCR and similar tools, or httpmock.
    Cassette,
    /// A text archive of Go tests, with responses in its files.
    Txtar,
    /// An exchange recorded by this suite.
    Exchange,
    /// A table of comma-separated values with rows of a log.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 10] = [
        Self::Sse,
        Self::Ndjson,
        Self::Json,
        Self::Http,
        Self::WebSocket,
        Self::Har,
        Self::Cassette,
        Self::Txtar,
        Self::Exchange,
        Self::Csv,
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
            Self::Csv => "csv",
        }
    }
}
