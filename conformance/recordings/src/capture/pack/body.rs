//! The body of a response, in chunks.

use std::mem;
use std::time::Duration;

use super::decompress::Decompressor;
use crate::capture::source::{framed_bytes, newlines};
use crate::capture::{CaptureError, Compression, Format, sse};
use checker::{Entry, Exchange, Frame};

/// Decompresses the chunks of a body, if the response states a compression and the body has it, and parses
/// their content.
#[derive(Debug)]
pub(in crate::capture) struct Body {
    coding: Coding,
    content: Content,
}

#[derive(Debug)]
enum Coding {
    Plain,
    /// The compression that the response states, and the first bytes, until they show whether it still
    /// applies.
    Stated(String, Vec<u8>),
    Compressed(Box<Decompressor>),
}

#[derive(Debug)]
enum Content {
    Stream(sse::Parser),
    /// A non-streaming body: its bytes so far, its start, and the time of its last byte.
    Whole {
        bytes: Vec<u8>,
        byte: u64,
        line: u64,
        time: Option<Duration>,
    },
}

/// Maximum size of a recording or body that is parsed as a whole.
pub(in crate::capture) const MOST_WHOLE: usize = 256 << 20;
/// Number of bytes without control characters after which a body counts as text.
const SURE: usize = 256;

impl Body {
    /// The body begins at this byte and line of the recording.
    pub(in crate::capture) fn new(exchange: &Exchange<'_>, (byte, line): (u64, u64)) -> Self {
        let content = if exchange.is_stream() {
            Content::Stream(sse::Parser::starting_at(byte, line))
        } else {
            Content::Whole { bytes: Vec::new(), byte, line, time: None }
        };
        let coding = coding(exchange).map_or(Coding::Plain, |how| Coding::Stated(how.to_owned(), Vec::new()));
        Self { coding, content }
    }

    pub(in crate::capture) fn push(
        &mut self,
        bytes: &[u8],
        time: Option<Duration>,
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        let Self { coding, content } = self;
        content.set_time(time);
        match coding {
            Coding::Plain => content.push(bytes, sink),
            Coding::Compressed(decompressor) => {
                decompressor.push(bytes, &mut |bytes| content.push(bytes, sink))
            }
            Coding::Stated(_, start) => {
                start.extend_from_slice(bytes);
                if Guess::at(start) == Guess::Unsure { Ok(()) } else { self.decide(sink) }
            }
        }
    }

    pub(in crate::capture) fn finish(mut self, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        let decided = self.decide(sink);
        let Self { coding, mut content } = self;
        let outcome = match coding {
            Coding::Compressed(mut decompressor) if decided.is_ok() => {
                decompressor.finish(&mut |bytes| content.push(bytes, sink))
            }
            _ => decided,
        };
        content.finish(sink);
        outcome
    }

    /// Drops the incomplete frame at the end, as the rest of the body is unknown.
    pub(in crate::capture) fn cut(mut self, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        self.decide(sink)
    }

    pub(in crate::capture) fn read(
        mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        match self.push(bytes, None, sink) {
            Ok(()) => self.finish(sink),
            Err(error) => {
                // The content before the error is valid.
                self.content.finish(sink);
                Err(error)
            }
        }
    }

    /// The recorder may have decompressed the body already, whatever the headers state.
    fn decide(&mut self, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        let Coding::Stated(how, start) = &mut self.coding else { return Ok(()) };
        let (how, start) = (mem::take(how), mem::take(start));
        self.coding = Coding::Plain;
        if Guess::at(&start) != Guess::Compressed {
            return self.content.push(&start, sink);
        }
        let compression = Compression::named(&how).ok_or_else(|| CaptureError::Compression {
            how: how.clone(),
            after: 0,
            problem: "only gzip, deflate, br and zstd are supported".to_owned(),
        })?;
        let mut decompressor = Decompressor::new(compression);
        let outcome = decompressor.push(&start, &mut |bytes| self.content.push(bytes, sink));
        self.coding = Coding::Compressed(Box::new(decompressor));
        outcome
    }
}

/// The `content-encoding` of the response.
fn coding<'e>(exchange: &'e Exchange<'_>) -> Option<&'e str> {
    exchange.header("content-encoding").map(str::trim).filter(|how| !matches!(*how, "" | "identity"))
}

/// The recorder may have decompressed the body already.
pub(in crate::capture) fn is_compressed(exchange: &Exchange<'_>, body: &[u8]) -> bool {
    coding(exchange).is_some() && Guess::at(body) == Guess::Compressed
}

/// The content of a body, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guess {
    Plain,
    Compressed,
    /// More bytes are needed.
    Unsure,
}

impl Guess {
    fn at(bytes: &[u8]) -> Self {
        let start = &bytes[..bytes.len().min(SURE)];
        let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
        // A character may be cut off at the end.
        let is_utf8 = std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
        if starts_with_field(start) {
            Self::Plain
        } else if !is_utf8 || start.iter().any(is_control) {
            Self::Compressed
        } else if start.len() == SURE {
            Self::Plain
        } else {
            Self::Unsure
        }
    }
}

/// The beginning of a stream of events, or of JSON.
pub(in crate::capture) fn is_content(bytes: &[u8]) -> bool {
    starts_with_field(bytes) || matches!(bytes.trim_ascii_start(), [b'{' | b'[', ..])
}

/// The beginning of a stream of server-sent events.
pub(in crate::capture) fn starts_with_field(bytes: &[u8]) -> bool {
    const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    FIELDS.iter().any(|field| start.starts_with(field))
}

impl Content {
    fn set_time(&mut self, now: Option<Duration>) {
        match self {
            Self::Stream(parser) => parser.set_time(now),
            Self::Whole { time, .. } => *time = now,
        }
    }

    fn push(&mut self, bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        match self {
            Self::Stream(parser) => parser.push(bytes, &mut |frame| sink(Entry::Event(frame))),
            Self::Whole { bytes: before, .. } if before.len() + bytes.len() > MOST_WHOLE => {
                return Err(CaptureError::TooLarge { format: Some(Format::Json), most: MOST_WHOLE });
            }
            Self::Whole { bytes: before, .. } => before.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finish(self, sink: &mut impl FnMut(Entry<'_>)) {
        match self {
            Self::Stream(mut parser) => parser.finish(&mut |frame| sink(Entry::Event(frame))),
            // A stream can have the wrong content type.
            Self::Whole { bytes, byte, line, time } if starts_with_field(&bytes) => {
                let mut parser = sse::Parser::starting_at(byte, line);
                parser.set_time(time);
                parser.push(&bytes, &mut |frame| sink(Entry::Event(frame)));
                parser.finish(&mut |frame| sink(Entry::Event(frame)));
            }
            Self::Whole { bytes, byte, line, time } => whole(&bytes, (byte, line), time, sink),
        }
    }
}

fn whole(body: &[u8], (byte, line): (u64, u64), time: Option<Duration>, sink: &mut impl FnMut(Entry<'_>)) {
    let source = body.trim_ascii();
    if source.is_empty() {
        return;
    }
    let before = body.len() - body.trim_ascii_start().len();
    let start = byte + before as u64;
    let line = line + newlines(&body[..before]);
    sink(Entry::Body(Frame { time, ..framed_bytes(source, start, line) }));
}
