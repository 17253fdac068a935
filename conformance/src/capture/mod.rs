//! From recorded bytes of any format to frames.
//!
//! [`Reader`] takes bytes as they come and finds out by itself what they are, compressed or not;
//! [`sse::Parser`] and [`ndjson::Parser`] are for those who know. A [`Recorder`] writes exchanges down,
//! without their secrets.

pub(crate) mod base64;
mod body;
#[cfg(feature = "cassettes")]
mod cassette;
mod compression;
#[cfg(feature = "compression")]
mod decompress;
#[cfg(not(feature = "compression"))]
#[path = "left_out.rs"]
mod decompress;
mod detect;
mod error;
mod exchange;
mod frame;
mod har;
mod http;
mod json;
pub mod ndjson;
mod reader;
mod recorded;
mod recorder;
pub mod sse;
mod websocket;
#[cfg(feature = "compression")]
mod zstd;

use serde::{Deserialize, Serialize};

#[cfg(feature = "live")]
pub(crate) use base64::encode as base64_of;
pub use compression::{Compression, Decompressing};
pub use error::CaptureError;
pub use frame::{Entry, Exchange, Frame, Headers, LEFT, Places, Request, Transport};
pub use reader::Reader;
#[cfg(feature = "live")]
pub(crate) use recorder::REDACTED;
pub use recorder::{End, Recorder};

/// How a recording is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What a [`Recorder`] wrote.
    Exchange,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Sse,
        Self::Ndjson,
        Self::Json,
        Self::Http,
        Self::WebSocket,
        Self::Har,
        Self::Cassette,
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
            Self::Exchange => "exchange",
        }
    }
}

/// Reads a recording that is there as a whole, and says what format it has.
pub fn read(
    bytes: &[u8],
    format: Option<Format>,
    sink: &mut impl FnMut(Entry<'_>),
) -> Result<Format, CaptureError> {
    let mut reader = Reader::new(format);
    reader.push(bytes, sink)?;
    reader.finish(sink)
}
