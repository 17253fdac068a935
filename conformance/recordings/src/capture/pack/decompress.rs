//! Decompression of chunks.

use std::io::{self, Read};
use std::{fmt, mem};

use flate2::bufread::{MultiGzDecoder, ZlibDecoder};

use super::compression::Compression;
use super::feed::Feed;
use super::zstd::Zstd;
use crate::capture::CaptureError;

/// A decompressor of chunks, which emits pieces of bounded size.
pub struct Decompressor {
    how: Compression,
    inner: Inner,
    piece: Vec<u8>,
    taken: u64,
    given: u64,
}

enum Inner {
    Gzip(Box<MultiGzDecoder<Feed>>),
    Deflate(Box<ZlibDecoder<Feed>>),
    Zstd(Box<Zstd>),
    Brotli(Box<brotli_decompressor::Decompressor<Feed>>),
}

/// Maximum size of an emitted piece.
const PIECE: usize = 64 << 10;

impl Decompressor {
    /// Returns an empty decompressor.
    pub fn new(how: Compression) -> Self {
        let feed = Feed::default();
        let inner = match how {
            Compression::Gzip => Inner::Gzip(Box::new(MultiGzDecoder::new(feed))),
            Compression::Deflate => Inner::Deflate(Box::new(ZlibDecoder::new(feed))),
            Compression::Zstd => Inner::Zstd(Box::new(Zstd::new(feed))),
            Compression::Brotli => {
                Inner::Brotli(Box::new(brotli_decompressor::Decompressor::new(feed, 4096)))
            }
        };
        Self { how, inner, piece: vec![0; PIECE], taken: 0, given: 0 }
    }

    /// Adds the next bytes, and emits what they decompress to.
    pub fn push(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>,
    ) -> Result<(), CaptureError> {
        self.take(bytes);
        self.emit(sink)
    }

    /// Ends the input, and emits the rest.
    pub fn finish(
        &mut self,
        sink: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>,
    ) -> Result<(), CaptureError> {
        self.end();
        self.emit(sink)
    }

    fn emit(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>) -> Result<(), CaptureError> {
        let mut piece = mem::take(&mut self.piece);
        let outcome = loop {
            match self.read(&mut piece) {
                Ok(0) => break Ok(()),
                Ok(length) => {
                    if let Err(error) = sink(&piece[..length]) {
                        break Err(error);
                    }
                }
                Err(error) => break Err(error),
            }
        };
        self.piece = piece;
        outcome
    }

    pub(in crate::capture) fn take(&mut self, bytes: &[u8]) {
        self.feed().push(bytes);
        self.taken += bytes.len() as u64;
    }

    pub(in crate::capture) fn end(&mut self) {
        self.feed().ended = true;
    }

    /// 0 if more input is needed or none follows.
    pub(in crate::capture) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, CaptureError> {
        match self.inner.read(buffer) {
            Ok(0) if self.has_more_after_brotli(buffer) => Err(self.fail("it has trailing bytes".to_owned())),
            Ok(length) => {
                self.given += length as u64;
                self.bound().map(|()| length)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) => {
                let problem = self.in_words(&error);
                Err(self.fail(problem))
            }
        }
    }

    /// The decoder of Brotli only reports this when called again.
    fn has_more_after_brotli(&mut self, buffer: &mut [u8]) -> bool {
        let Inner::Brotli(inner) = &mut self.inner else { return false };
        let is_refused = |error: &io::Error| error.kind() != io::ErrorKind::WouldBlock;
        inner.read(buffer).is_err_and(|error| is_refused(&error)) || !inner.get_ref().rest().is_empty()
    }

    fn bound(&mut self) -> Result<(), CaptureError> {
        let used = self.taken - self.feed().rest().len() as u64;
        if self.given <= Compression::LEAST.max(used.saturating_mul(Compression::RATIO)) {
            return Ok(());
        }
        Err(self.fail(format!(
            "it decompresses to more than {} MiB and {} times its size, like a decompression bomb; \
             if this is intended, decompress it first",
            Compression::LEAST >> 20,
            Compression::RATIO
        )))
    }

    fn in_words(&mut self, error: &io::Error) -> String {
        let is_brotli = matches!(self.inner, Inner::Brotli(_));
        match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is truncated".to_owned(),
            // This decoder reports all errors alike.
            _ if is_brotli && self.feed().ended => "it is truncated or damaged".to_owned(),
            _ if is_brotli => "it is damaged or not compressed this way".to_owned(),
            _ => error.to_string(),
        }
    }

    fn fail(&self, problem: String) -> CaptureError {
        CaptureError::Compression { how: self.how.name().to_owned(), after: self.given, problem }
    }

    fn feed(&mut self) -> &mut Feed {
        match &mut self.inner {
            Inner::Gzip(inner) => inner.get_mut(),
            Inner::Deflate(inner) => inner.get_mut(),
            Inner::Zstd(inner) => inner.feed(),
            Inner::Brotli(inner) => inner.get_mut(),
        }
    }
}

impl Read for Inner {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(inner) => inner.read(buffer),
            Self::Deflate(inner) => inner.read(buffer),
            Self::Zstd(inner) => inner.read(buffer),
            Self::Brotli(inner) => inner.read(buffer),
        }
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { how, taken, given, .. } = self;
        f.debug_struct("Decompressor").field("how", how).field("taken", taken).field("given", given).finish()
    }
}
