//! From bytes of whatever format to entries.

use std::io::{self, Read};

use super::compression::Mark;
use super::decompress::Decompressor;
use super::{CaptureError, Compression, Format, detect, exchange, har, http, json, ndjson, sse, websocket};
use checker::{Entry, Frame};

/// So many bytes are read at once.
const PIECE: usize = 256 << 10;

/// Takes the bytes of a recording as they come, finds out what format it has, and hands out what it
/// holds. Streams, NDJSON and recorded exchanges are read on the way; other formats when they are
/// complete. What is compressed with gzip or zstd is decompressed on the way: bytes and lines are then
/// counted in what comes of it.
#[derive(Debug)]
pub struct Reader {
    state: State,
    is_inside: bool,
}

#[derive(Debug)]
enum State {
    /// What it is, is not known yet; nor will it be before there are so many bytes.
    Start {
        bytes: Vec<u8>,
        next_look: usize,
        format: Option<Format>,
    },
    Compressed(Box<Decompressor>, Box<Reader>),
    Sse(sse::Parser),
    Ndjson(ndjson::Parser),
    Exchange(Box<exchange::Parser>),
    Whole(Format, Vec<u8>),
    Failed(CaptureError),
}

/// A start of so many bytes is looked at whenever it grows.
const SHORT: usize = 4 << 10;

impl Reader {
    /// A reader of recordings of this format, or of any.
    pub const fn new(format: Option<Format>) -> Self {
        Self { state: State::Start { bytes: Vec::new(), next_look: 0, format }, is_inside: false }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        let outcome = match &mut self.state {
            State::Start { bytes, next_look, format } => {
                bytes.extend_from_slice(chunk);
                if bytes.len() < *next_look {
                    return Ok(());
                }
                if bytes.len() > SHORT {
                    // Looking again at ever more bytes must not take ever longer.
                    *next_look = 2 * bytes.len();
                }
                let format = *format;
                match Mark::of(bytes) {
                    Mark::Perhaps => Ok(()),
                    Mark::Is(compression) => self.decompress(compression, format, sink),
                    Mark::None => {
                        match format.map_or_else(|| detect::detect(bytes, false), |is| Ok(Some(is))) {
                            Ok(Some(format)) => self.begin(format, sink),
                            Ok(None) => Ok(()),
                            Err(error) => Err(error),
                        }
                    }
                }
            }
            State::Compressed(decompressor, inside) => {
                decompressor.push(chunk, &mut |bytes| inside.push(bytes, sink))
            }
            State::Sse(parser) => {
                parser.push(chunk, &mut |frame| sink(Entry::Event(frame)));
                Ok(())
            }
            State::Ndjson(parser) => {
                parser.push(chunk, &mut |frame| sink(Entry::Event(json::unwrapped(frame))));
                Ok(())
            }
            State::Exchange(parser) => parser.push(chunk, sink),
            State::Whole(_, bytes) => {
                bytes.extend_from_slice(chunk);
                Ok(())
            }
            State::Failed(error) => Err(error.clone()),
        };
        outcome.inspect_err(|error| self.fail(error, sink))
    }

    /// Takes all of a recording. Says what format it had, or why it was not read to its end.
    pub(crate) fn read(
        mut self,
        input: &mut dyn Read,
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<Format, String> {
        let in_words = |error: CaptureError| error.to_string();
        let mut piece = vec![0; PIECE];
        loop {
            match input.read(&mut piece) {
                Ok(0) => return self.finish(sink).map_err(in_words),
                Ok(length) => self.push(&piece[..length], sink).map_err(in_words)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// The recording has ended. Says what format it had.
    pub fn finish(mut self, sink: &mut impl FnMut(Entry<'_>)) -> Result<Format, CaptureError> {
        if let State::Start { bytes, format, .. } = &self.state {
            let (mark, format) = (Mark::of(bytes), *format);
            if let Mark::Is(compression) = mark {
                self.decompress(compression, format, sink)?;
            } else {
                let known = format.map_or_else(|| detect::detect(bytes, true), |is| Ok(Some(is)))?;
                self.begin(known.ok_or(CaptureError::Unrecognised)?, sink)?;
            }
        }
        let mut event = |frame: Frame<'_>| sink(Entry::Event(frame));
        match self.state {
            State::Start { .. } => Err(CaptureError::Unrecognised),
            State::Failed(error) => Err(error),
            State::Compressed(mut decompressor, mut inside) => {
                let outcome = decompressor.finish(&mut |bytes| inside.push(bytes, sink));
                // What could be read of it, is: the frames before a missing end are as good as any.
                let format = inside.finish(sink);
                outcome.and(format)
            }
            State::Sse(mut parser) => {
                parser.finish(&mut event);
                Ok(Format::Sse)
            }
            State::Ndjson(mut parser) => {
                parser.finish(&mut |frame| event(json::unwrapped(frame)));
                Ok(Format::Ndjson)
            }
            State::Exchange(parser) => parser.finish(sink).map(|()| Format::Exchange),
            State::Whole(format, bytes) => {
                match format {
                    Format::Http => http::read(&bytes, sink),
                    Format::WebSocket => websocket::read(&bytes, sink),
                    Format::Har => har::read(&bytes, sink),
                    Format::Cassette => super::cassette::read(&bytes, sink),
                    Format::Txtar => super::txtar::read(&bytes, sink),
                    Format::Json | Format::Sse | Format::Ndjson | Format::Exchange => {
                        json::read(&bytes, sink)
                    }
                }?;
                Ok(format)
            }
        }
    }

    fn begin(&mut self, format: Format, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        match std::mem::replace(&mut self.state, State::of(format)) {
            State::Start { bytes, .. } => self.push(&bytes, sink),
            _ => Ok(()),
        }
    }

    fn decompress(
        &mut self,
        compression: Compression,
        format: Option<Format>,
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        if self.is_inside {
            return Err(CaptureError::CompressedTwice(compression.name()));
        }
        let inside = Self { is_inside: true, ..Self::new(format) };
        let begun = State::Compressed(Box::new(Decompressor::new(compression)?), Box::new(inside));
        match std::mem::replace(&mut self.state, begun) {
            State::Start { bytes, .. } => self.push(&bytes, sink),
            _ => Ok(()),
        }
    }

    /// Nothing more can be read; what was decompressed before that is handed out.
    fn fail(&mut self, error: &CaptureError, sink: &mut impl FnMut(Entry<'_>)) {
        if let State::Compressed(_, inside) = std::mem::replace(&mut self.state, State::Failed(error.clone()))
        {
            // It may end anywhere, which is no news beside this error.
            let _ = inside.finish(sink);
        }
    }
}

impl State {
    fn of(format: Format) -> Self {
        match format {
            Format::Sse => Self::Sse(sse::Parser::default()),
            Format::Ndjson => Self::Ndjson(ndjson::Parser::default()),
            Format::Exchange => Self::Exchange(Box::default()),
            other => Self::Whole(other, Vec::new()),
        }
    }
}
