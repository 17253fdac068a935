//! Texts in the bytes of a recording, and their places.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{CaptureError, Format};
use checker::{Frame, Places};

/// The wrapper is `{"event": NAME, "data": EVENT}`.
pub(super) fn unwrapped(frame: Frame<'_>) -> Frame<'_> {
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        event: Cow<'a, str>,
        #[serde(borrow)]
        data: &'a RawValue,
        // An event has a type.
        r#type: Option<IgnoredAny>,
    }
    // Most events begin with another member, and skip this check.
    let start = frame.source.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    if ![b"\"event\"".as_slice(), b"\"data\""].iter().any(|name| start.starts_with(name)) {
        return frame;
    }
    let wrapped = serde_json::from_slice(frame.source).ok();
    let Some(Wrapped { event, data, r#type: None }) = wrapped else { return frame };
    let (text, places) = said(frame.source, data);
    Frame { event: Some(event), data: Some(text), places, ..frame }
}

/// The value is the text of a string, or JSON. Also returns its offset.
pub(super) fn said<'a>(line: &[u8], raw: &'a RawValue) -> (Cow<'a, str>, Places) {
    let raw = raw.get();
    let is_string = raw.starts_with('"');
    let text = if is_string { unquoted(raw) } else { Cow::Borrowed(raw) };
    let places = match text {
        Cow::Borrowed(_) => Places::At(offset_in(line, raw) + usize::from(is_string)),
        Cow::Owned(_) => Places::Nowhere,
    };
    (text, places)
}

/// Borrowed if it has no escapes.
pub(super) fn unquoted(raw: &str) -> Cow<'_, str> {
    if let Ok(text) = serde_json::from_str::<&str>(raw) {
        return Cow::Borrowed(text);
    }
    // A lone surrogate is not a valid Rust string.
    let inner = raw.trim_matches('"');
    serde_json::from_str::<String>(raw)
        .map_or_else(|_| Cow::Owned(spec::json::decode(inner).0.into_owned()), Cow::Owned)
}

pub(super) fn offset_in(bytes: &[u8], piece: &str) -> usize {
    (piece.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize).min(bytes.len())
}

pub(super) fn line_of(bytes: &[u8], at: usize) -> u64 {
    1 + newlines(&bytes[..at.min(bytes.len())])
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A counter of lines between increasing offsets.
pub(super) struct Lines<'b> {
    pub(super) bytes: &'b [u8],
    at: usize,
    line: u64,
}

impl<'b> Lines<'b> {
    pub(super) const fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// Offsets must not decrease.
    pub(super) fn line(&mut self, byte: usize) -> u64 {
        let to = byte.clamp(self.at, self.bytes.len());
        self.line += newlines(&self.bytes[self.at..to]);
        self.at = to;
        self.line
    }
}

pub(super) fn framed(text: &str, start: u64, line: u64) -> Frame<'_> {
    Frame {
        data: Some(Cow::Borrowed(text)),
        source: text.as_bytes(),
        bytes: start..start + text.len() as u64,
        line,
        places: Places::At(0),
        terminated: true,
        ..Frame::default()
    }
}

/// The bytes may be no text.
pub(super) fn framed_bytes(source: &[u8], start: u64, line: u64) -> Frame<'_> {
    match std::str::from_utf8(source) {
        Ok(text) => framed(text, start, line),
        Err(error) => Frame {
            invalid_utf8: Some(start + error.valid_up_to() as u64),
            places: Places::Nowhere,
            data: Some(String::from_utf8_lossy(source)),
            source,
            bytes: start..start + source.len() as u64,
            ..framed("", start, line)
        },
    }
}

pub(super) fn utf8(bytes: &[u8], format: Format) -> Result<&str, CaptureError> {
    std::str::from_utf8(bytes).map_err(|error| CaptureError::Malformed {
        format,
        line: line_of(bytes, error.valid_up_to()),
        problem: format!("byte {} is not valid UTF-8", error.valid_up_to()),
    })
}

pub(super) fn parsed<'f, T: Deserialize<'f>>(frame: &'f Frame<'_>) -> Result<T, CaptureError> {
    serde_json::from_slice(frame.source).map_err(|error| CaptureError::Malformed {
        format: Format::Ndjson,
        line: frame.line,
        problem: error.to_string(),
    })
}

/// The document cannot be parsed.
pub(super) fn malformed(format: Format, error: &serde_json::Error) -> CaptureError {
    CaptureError::Malformed { format, line: error.line() as u64, problem: error.to_string() }
}
