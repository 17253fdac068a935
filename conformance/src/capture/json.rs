//! JSON documents: a list of events, or one body.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::frame::{Entry, Frame, Places, Transport};
use super::{CaptureError, Format};

/// Reads a document.
pub(super) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let text = utf8(bytes, Format::Json)?.get(mark..).unwrap_or_default();
    if !text.trim_start().starts_with('[') {
        let start = mark + text.len() - text.trim_start().len();
        let body = frame(bytes, start, text.trim(), line_of(bytes, start));
        sink(if is_event(text.as_bytes()) { Entry::Event(body) } else { Entry::Body(body) });
        return Ok(());
    }
    let entries: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| malformed(Format::Json, &error))?;
    let (mut at, mut line) = (0, 1);
    for entry in entries {
        let start = offset_in(bytes, entry.get());
        line += newlines(&bytes[at..start]);
        at = start;
        sink(Entry::Event(frame(bytes, start, entry.get(), line)));
    }
    Ok(())
}

/// A frame whose data are a piece of the recording.
fn frame<'a>(bytes: &'a [u8], start: usize, text: &'a str, line: u64) -> Frame<'a> {
    Frame {
        data: Some(Cow::Borrowed(text)),
        source: &bytes[start..start + text.len()],
        bytes: start as u64..(start + text.len()) as u64,
        line,
        places: Places::At(0),
        terminated: true,
        transport: Transport::Unframed,
        ..Frame::default()
    }
}

/// Where a piece of the bytes begins in them.
pub(super) fn offset_in(bytes: &[u8], piece: &str) -> usize {
    (piece.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize).min(bytes.len())
}

/// The line on which a byte stands.
pub(super) fn line_of(bytes: &[u8], at: usize) -> u64 {
    1 + newlines(&bytes[..at.min(bytes.len())])
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

pub(super) fn utf8(bytes: &[u8], format: Format) -> Result<&str, CaptureError> {
    std::str::from_utf8(bytes).map_err(|error| CaptureError::Malformed {
        format,
        line: line_of(bytes, error.valid_up_to()),
        problem: format!("byte {} is not UTF-8", error.valid_up_to()),
    })
}

pub(super) fn malformed(format: Format, error: &serde_json::Error) -> CaptureError {
    CaptureError::Malformed { format, line: error.line() as u64, problem: error.to_string() }
}

/// Whether an object is an event: it says its type, and is not a response or the body of an error.
pub(super) fn is_event(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Look {
        r#type: Option<String>,
        object: Option<serde::de::IgnoredAny>,
    }
    let look: Result<Look, _> = serde_json::from_slice(text);
    look.is_ok_and(|look| look.r#type.is_some() && look.object.is_none())
}
