//! From bytes of whatever format to entries.

use super::frame::{Entry, Frame};
use super::{CaptureError, Format, detect, har, http, json, ndjson, sse, websocket};

/// Takes the bytes of a recording as they come, finds out what format it has, and hands out what it
/// holds. Streams and NDJSON are read on the way; other formats when they are complete.
#[derive(Debug)]
pub struct Reader {
    state: State,
}

#[derive(Debug)]
enum State {
    /// The format is not known yet; nor will it be before there are so many bytes.
    Start(Vec<u8>, usize),
    Sse(sse::Parser),
    Ndjson(ndjson::Parser),
    Whole(Format, Vec<u8>),
}

/// A start of so many bytes is looked at whenever it grows.
const SHORT: usize = 4 << 10;

impl Reader {
    /// A reader of recordings of this format, or of any.
    pub fn new(format: Option<Format>) -> Self {
        Self { state: format.map_or_else(|| State::Start(Vec::new(), 0), State::of) }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        match &mut self.state {
            State::Start(start, next_look) => {
                start.extend_from_slice(chunk);
                if start.len() < *next_look {
                    return Ok(());
                }
                if start.len() > SHORT {
                    // Looking again at ever more bytes must not take ever longer.
                    *next_look = 2 * start.len();
                }
                if let Some(format) = detect::detect(start, false)? {
                    self.begin(format, sink);
                }
            }
            State::Sse(parser) => parser.push(chunk, &mut |frame| sink(Entry::Event(frame))),
            State::Ndjson(parser) => parser.push(chunk, &mut |frame| sink(Entry::Event(frame))),
            State::Whole(_, bytes) => bytes.extend_from_slice(chunk),
        }
        Ok(())
    }

    /// The recording has ended. Says what format it had.
    pub fn finish(mut self, sink: &mut impl FnMut(Entry<'_>)) -> Result<Format, CaptureError> {
        if let State::Start(start, _) = &self.state {
            let format = detect::detect(start, true)?.ok_or(CaptureError::Unrecognised)?;
            self.begin(format, sink);
        }
        let mut event = |frame: Frame<'_>| sink(Entry::Event(frame));
        match self.state {
            State::Start(..) => Err(CaptureError::Unrecognised),
            State::Sse(mut parser) => {
                parser.finish(&mut event);
                Ok(Format::Sse)
            }
            State::Ndjson(mut parser) => {
                parser.finish(&mut event);
                Ok(Format::Ndjson)
            }
            State::Whole(format, bytes) => {
                match format {
                    Format::Http => http::read(&bytes, sink),
                    Format::WebSocket => websocket::read(&bytes, sink),
                    Format::Har => har::read(&bytes, sink),
                    #[cfg(feature = "cassettes")]
                    Format::Cassette => super::cassette::read(&bytes, sink),
                    #[cfg(not(feature = "cassettes"))]
                    Format::Cassette => Err(CaptureError::LeftOut("cassettes")),
                    Format::Json | Format::Sse | Format::Ndjson => json::read(&bytes, sink),
                }?;
                Ok(format)
            }
        }
    }

    fn begin(&mut self, format: Format, sink: &mut impl FnMut(Entry<'_>)) {
        let before = std::mem::replace(&mut self.state, State::of(format));
        let State::Start(start, _) = before else { return };
        match &mut self.state {
            State::Sse(parser) => parser.push(&start, &mut |frame| sink(Entry::Event(frame))),
            State::Ndjson(parser) => parser.push(&start, &mut |frame| sink(Entry::Event(frame))),
            State::Whole(_, bytes) => *bytes = start,
            State::Start(..) => {}
        }
    }
}

impl State {
    fn of(format: Format) -> Self {
        match format {
            Format::Sse => Self::Sse(sse::Parser::default()),
            Format::Ndjson => Self::Ndjson(ndjson::Parser::default()),
            other => Self::Whole(other, Vec::new()),
        }
    }
}
