//! Parsing of recordings of any format into frames.
//!
//! [`Reader`] parses bytes incrementally, and detects their format and compression; [`sse::Parser`] and
//! [`ndjson::Parser`] parse a known format. A [`Recorder`] records exchanges without their secrets.

mod error;
mod formats;
mod on_disk;
pub(crate) mod other_api;
mod pack;
mod reader;
mod recorder;
mod shaped;
mod sink;
mod source;

pub use checker::{Entry, Exchange, Frame, Headers, Loss, Places, Request, Transport, sse};
pub use error::CaptureError;
pub use formats::ndjson;
pub use pack::base64::{decode as bytes_of_base64, encode as base64_of};
pub use pack::compression::Compression;
pub use pack::decompress::Decompressor;
pub use pack::decompressing::Decompressing;
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
