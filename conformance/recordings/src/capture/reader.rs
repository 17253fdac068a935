//! A reader of recordings of any format.

use std::io::{self, Read};
use std::mem;

use super::sink::{ByValue, Sink};
use crate::capture::formats::{csv, detect, har, http, json, lines, websocket};
use crate::capture::pack::body;
use crate::capture::pack::compression::Mark;
use crate::capture::pack::decompress::Decompressor;
use crate::capture::{CaptureError, Compression, Format, sse};
use checker::{Entry, Loss};

/// A read buffer, reusable for many recordings.
#[derive(Debug, Default)]
pub(crate) struct Piece(Vec<u8>);

impl Piece {
    /// Size of a read.
    const SIZE: usize = 256 << 10;

    fn room(&mut self) -> &mut [u8] {
        if self.0.is_empty() {
            // Such memory comes zeroed from the system: only what is read costs pages.
            self.0 = vec![0; Self::SIZE];
        }
        &mut self.0
    }
}

/// A reader of chunks that detects the format and emits entries. Streams, NDJSON and recorded exchanges are
/// parsed incrementally, other formats when complete, up to [`Reader::MOST_WHOLE`] bytes. gzip and zstd are
/// decompressed; bytes and lines then refer to the decompressed recording.
#[derive(Debug)]
pub struct Reader {
    state: ReaderState,
    is_inside: bool,
    /// Maximum number of bytes that are read before they are parsed.
    most_whole: usize,
}

#[derive(Debug)]
enum ReaderState {
    /// The format is not known before this many bytes.
    Start {
        bytes: Vec<u8>,
        next_look: usize,
        format: Option<Format>,
    },
    Compressed(Box<Decompressor>, Box<Reader>),
    Sse(sse::Parser),
    Lines(Box<lines::Parser>),
    Whole(Format, Vec<u8>),
    Failed(CaptureError),
}

/// Below this size, detection runs for every chunk.
const SHORT: usize = 4 << 10;

impl Reader {
    /// Maximum size of a recording in a format that is parsed only when complete, and of a first line.
    pub const MOST_WHOLE: usize = body::MOST_WHOLE;

    /// Returns a reader for this format, or for any.
    pub const fn new(format: Option<Format>) -> Self {
        Self::with_limit(format, Self::MOST_WHOLE)
    }

    const fn with_limit(format: Option<Format>, most_whole: usize) -> Self {
        let state = ReaderState::Start { bytes: Vec::new(), next_look: 0, format };
        Self { state, is_inside: false, most_whole }
    }

    /// Adds the next bytes.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        self.push_to(chunk, &mut ByValue(sink))
    }

    /// Ends the recording, and returns its format.
    pub fn finish(self, sink: &mut impl FnMut(Entry<'_>)) -> Result<Format, CaptureError> {
        self.finish_to(&mut ByValue(sink))
    }

    pub(crate) fn push_to(&mut self, chunk: &[u8], sink: &mut impl Sink) -> Result<(), CaptureError> {
        let outcome = match &mut self.state {
            ReaderState::Start { .. } => self.start(chunk, sink),
            ReaderState::Compressed(decompressor, inside) => {
                decompressor.push(chunk, &mut |bytes| inside.push_to(bytes, sink))
            }
            ReaderState::Sse(parser) => {
                parser.push_to(chunk, sink);
                Ok(())
            }
            ReaderState::Lines(parser) => parser.push(chunk, &mut |entry: Entry<'_>| sink.entry(entry)),
            ReaderState::Whole(format, bytes) => {
                if bytes.len() + chunk.len() > self.most_whole {
                    Err(CaptureError::TooLarge { format: Some(*format), most: self.most_whole })
                } else {
                    bytes.extend_from_slice(chunk);
                    Ok(())
                }
            }
            ReaderState::Failed(error) => Err(error.clone()),
        };
        outcome.inspect_err(|error| self.fail(error, sink))
    }

    /// Usually the first chunk decides the format, and is not copied.
    fn start(&mut self, chunk: &[u8], sink: &mut impl Sink) -> Result<(), CaptureError> {
        let ReaderState::Start { bytes, next_look, format } = &mut self.state else { return Ok(()) };
        let mut kept = mem::take(bytes);
        if kept.len() + chunk.len() > self.most_whole {
            return Err(CaptureError::TooLarge { format: *format, most: self.most_whole });
        }
        if !kept.is_empty() {
            kept.extend_from_slice(chunk);
        }
        let start = if kept.is_empty() { chunk } else { &kept };
        if start.len() >= *next_look {
            if start.len() > SHORT {
                // Detection runs again only when the size doubles, to stay linear.
                *next_look = 2 * start.len();
            }
            match Mark::of(start) {
                Mark::Perhaps => {}
                Mark::Is(compression) => {
                    let format = *format;
                    self.decompress(compression, format)?;
                    return self.push_to(start, sink);
                }
                Mark::None => {
                    if let Some(format) =
                        format.map_or_else(|| detect::detect(start, false), |is| Ok(Some(is)))?
                    {
                        self.state = ReaderState::of(format);
                        return self.push_to(start, sink);
                    }
                }
            }
        }
        if kept.is_empty() {
            kept.extend_from_slice(chunk);
        }
        *bytes = kept;
        Ok(())
    }

    pub(crate) fn read(
        mut self,
        input: &mut dyn Read,
        piece: &mut Piece,
        sink: &mut impl Sink,
    ) -> Result<Format, String> {
        let in_words = |error: CaptureError| error.to_string();
        let piece = piece.room();
        loop {
            match input.read(piece) {
                Ok(0) => return self.finish_to(sink).map_err(in_words),
                Ok(length) => self.push_to(&piece[..length], sink).map_err(in_words)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let problem = error.to_string();
                    self.cut(&problem, sink);
                    return Err(problem);
                }
            }
        }
    }

    pub(crate) fn finish_to(mut self, sink: &mut impl Sink) -> Result<Format, CaptureError> {
        if let ReaderState::Start { bytes, format, .. } = &mut self.state {
            let (start, format) = (mem::take(bytes), *format);
            if let Mark::Is(compression) = Mark::of(&start) {
                self.decompress(compression, format)?;
            } else {
                let known = format.map_or_else(|| detect::detect(&start, true), |is| Ok(Some(is)))?;
                self.state = ReaderState::of(known.ok_or(CaptureError::Unrecognised)?);
            }
            self.push_to(&start, sink)?;
        }
        match self.state {
            ReaderState::Start { .. } => Err(CaptureError::Unrecognised),
            ReaderState::Failed(error) => Err(error),
            ReaderState::Compressed(mut decompressor, mut inside) => {
                match decompressor.finish(&mut |bytes| inside.push_to(bytes, sink)) {
                    Ok(()) => inside.finish_to(sink),
                    Err(error) => {
                        inside.cut(&error.to_string(), sink);
                        Err(error)
                    }
                }
            }
            ReaderState::Sse(mut parser) => {
                parser.finish_to(sink);
                Ok(Format::Sse)
            }
            ReaderState::Lines(parser) => {
                let format = parser.format();
                parser.finish(&mut |entry: Entry<'_>| sink.entry(entry)).map(|()| format)
            }
            ReaderState::Whole(format, bytes) => {
                let sink = &mut |entry: Entry<'_>| sink.entry(entry);
                match format {
                    Format::Http => http::read(&bytes, sink),
                    Format::WebSocket => websocket::read(&bytes, sink),
                    Format::Har => har::read(&bytes, sink),
                    Format::Csv => csv::read(&bytes, sink),
                    Format::Cassette => crate::capture::formats::cassette::read(&bytes, sink),
                    Format::Txtar => crate::capture::formats::txtar::read(&bytes, sink),
                    Format::Json | Format::Sse | Format::Ndjson | Format::Exchange => {
                        json::read(&bytes, sink)
                    }
                }?;
                Ok(format)
            }
        }
    }

    fn decompress(&mut self, compression: Compression, format: Option<Format>) -> Result<(), CaptureError> {
        if self.is_inside {
            return Err(CaptureError::CompressedTwice(compression.name()));
        }
        let inside = Self { is_inside: true, ..Self::with_limit(format, self.most_whole) };
        self.state = ReaderState::Compressed(Box::new(Decompressor::new(compression)), Box::new(inside));
        Ok(())
    }

    /// Emits what was decompressed before.
    fn fail(&mut self, error: &CaptureError, sink: &mut impl Sink) {
        if let ReaderState::Compressed(_, inside) =
            mem::replace(&mut self.state, ReaderState::Failed(error.clone()))
        {
            inside.cut(&error.to_string(), sink);
        }
    }

    /// Drops the incomplete frame at the end, as the rest of the recording cannot be read.
    fn cut(self, problem: &str, sink: &mut impl Sink) {
        match self.state {
            ReaderState::Sse(_) => sink.entry(Entry::Lost(Loss::Cut(problem.into()))),
            ReaderState::Lines(parser) => parser.cut(problem, &mut |entry: Entry<'_>| sink.entry(entry)),
            // A truncated end is expected after this error.
            _ => drop(self.finish_to(sink)),
        }
    }
}

impl ReaderState {
    fn of(format: Format) -> Self {
        match format {
            Format::Sse => Self::Sse(sse::Parser::default()),
            Format::Ndjson | Format::Exchange => Self::Lines(Box::new(lines::Parser::new(format))),
            other => Self::Whole(other, Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str, limit: usize, size: usize) -> Result<Format, CaptureError> {
        let mut reader = Reader::with_limit(None, limit);
        for chunk in text.as_bytes().chunks(size) {
            reader.push(chunk, &mut |_| {})?;
        }
        reader.finish(&mut |_| {})
    }

    #[test]
    fn what_is_read_whole_has_a_limit() {
        let text = "x".repeat(500);
        let event = format!("{{\"type\":\"a\",\"b\":\"{text}\"}}");
        for (recording, format) in [
            (event.clone(), None),
            (format!("[{event}]"), Some(Format::Json)),
            (format!("{{\"log\":{{\"entries\":[],\"c\":{event}}}}}"), Some(Format::Har)),
            (format!("interactions:\n- {text}\n"), Some(Format::Cassette)),
            (format!("HTTP/1.1 200 OK\r\n\r\n{text}"), Some(Format::Http)),
        ] {
            let too_large = Err(CaptureError::TooLarge { format, most: 300 });
            assert_eq!(outcome(&recording, 300, 20), too_large, "{recording}");
            assert_ne!(outcome(&recording, 600, 20), too_large, "{recording}");
        }
        // Streams and lines are not read whole.
        let stream = "data: 1\n\n".repeat(100);
        assert_eq!(outcome(&stream, 300, 20), Ok(Format::Sse));
        let lines = "{\"type\":\"a\"}\n".repeat(100);
        assert_eq!(outcome(&lines, 300, 20), Ok(Format::Ndjson));
    }
}
