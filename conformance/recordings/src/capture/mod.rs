//! Parsing of recordings of any format into frames.
//!
//! [`Reader`] parses bytes incrementally, and detects their format and compression; [`sse::Parser`] and
//! [`ndjson::Parser`] parse a known format. A [`Recorder`] records exchanges without their secrets.

pub(crate) mod base64;
mod body;
mod cassette;
mod compression;
mod csv;
mod decompress;
mod decompressing;
mod detect;
mod document;
mod error;
mod exchange;
mod feed;
mod har;
mod http;
mod json;
mod lines;
mod log;
pub mod ndjson;
mod nested;
mod on_disk;
pub(crate) mod other_api;
mod reader;
mod recorded;
mod recorder;
mod shaped;
mod sink;
mod source;
mod txtar;
mod websocket;
mod zstd;

pub use base64::{decode as bytes_of_base64, encode as base64_of};
pub use checker::{Entry, Exchange, Frame, Headers, Loss, Places, Request, Transport, sse};
pub use compression::Compression;
pub use decompress::Decompressor;
pub use decompressing::Decompressing;
pub use error::CaptureError;
pub(crate) use reader::Piece;
pub use reader::Reader;
pub use recorder::REDACTED;
pub use recorder::{End, Recorder, is_public_header};
pub use results::Format;
pub use shaped::{Shaped, Shaper};
pub(crate) use sink::{ByValue, Sink};

/// Reads a complete recording, and returns its format.
pub fn read(
    bytes: &[u8],
    format: Option<Format>,
    sink: &mut impl FnMut(Entry<'_>),
) -> Result<Format, CaptureError> {
    let mut reader = Reader::new(format);
    reader.push(bytes, sink)?;
    reader.finish(sink)
}
