//! NDJSON: one JSON value per line.

use memchr::memchr;

use crate::capture::source::framed_bytes;
use checker::{Frame, Transport};

/// A parser of chunks that emits a frame for every line that is not blank.
#[derive(Debug)]
pub struct Parser {
    /// The start of an incomplete line.
    pending: Vec<u8>,
    /// Offset and number of that line.
    start: u64,
    line: u64,
    /// Number of its dropped bytes, if it is too long.
    dropped: usize,
}

impl Default for Parser {
    fn default() -> Self {
        Self { pending: Vec::new(), start: 0, line: 1, dropped: 0 }
    }
}

impl Parser {
    /// Adds the next bytes.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end + 1);
            let length = self.dropped + self.pending.len() + line.len();
            if length > Frame::LONGEST {
                self.pending.clear();
                self.hand_out_cut(length, sink);
            } else if self.pending.is_empty() {
                self.hand_out(line, sink);
            } else {
                let mut whole = std::mem::take(&mut self.pending);
                whole.extend_from_slice(line);
                self.hand_out(&whole, sink);
                whole.clear();
                self.pending = whole;
            }
            self.start += length as u64;
            self.line += 1;
            self.dropped = 0;
            rest = behind;
        }
        self.pending.extend_from_slice(rest);
        if self.dropped + self.pending.len() > Frame::LONGEST {
            self.dropped += self.pending.len();
            self.pending.clear();
        }
    }

    /// Ends the input.
    pub fn finish(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        let last = std::mem::take(&mut self.pending);
        let length = self.dropped + last.len();
        if length > Frame::LONGEST {
            self.hand_out_cut(length, sink);
        } else {
            self.hand_out(&last, sink);
        }
        self.start += length as u64;
    }

    /// Without its data.
    #[cold]
    fn hand_out_cut(&self, length: usize, sink: &mut impl FnMut(Frame<'_>)) {
        sink(Frame {
            data: Some("".into()),
            bytes: self.start..self.start + length as u64,
            line: self.line,
            terminated: true,
            is_cut: true,
            transport: Transport::Unframed,
            ..Frame::default()
        });
    }

    fn hand_out(&self, line: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        let mark: &[u8] = if self.start == 0 { b"\xef\xbb\xbf" } else { b"" };
        let body = line.strip_prefix(mark).unwrap_or(line);
        let source = body.trim_ascii();
        if source.is_empty() {
            return;
        }
        let before = line.len() - body.len() + body.len() - body.trim_ascii_start().len();
        let start = self.start + before as u64;
        sink(Frame { transport: Transport::Unframed, ..framed_bytes(source, start, self.line) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_change_nothing() {
        let stream = b"\xef\xbb\xbf{\"a\":1}\r\n\n  {\"b\":2} \n{\"c\":\"\xff\"}";
        let read = |size: usize| {
            let mut frames = Vec::new();
            let mut parser = Parser::default();
            let mut keep = |frame: Frame<'_>| {
                let data = frame.data.map(std::borrow::Cow::into_owned);
                frames.push((data, frame.bytes, frame.line, frame.invalid_utf8));
            };
            for chunk in stream.chunks(size) {
                parser.push(chunk, &mut keep);
            }
            parser.finish(&mut keep);
            frames
        };
        let whole = read(stream.len());
        assert_eq!(whole[0], (Some("{\"a\":1}".to_owned()), 3..10, 1, None));
        assert_eq!(whole[1], (Some("{\"b\":2}".to_owned()), 15..22, 3, None));
        assert_eq!((whole[2].2, whole[2].3), (4, Some(30)));
        for size in 1..stream.len() {
            assert_eq!(read(size), whole, "pieces of {size}");
        }
    }
}
