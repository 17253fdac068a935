//! Decompression of chunks.

use std::fmt;
use std::io::{self, Read};

use flate2::bufread::{MultiGzDecoder, ZlibDecoder};

use super::CaptureError;
use super::compression::Compression;
use super::feed::Feed;
use super::zstd::Zstd;

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
    pub fn new(how: Compression) -> Result<Self, CaptureError> {
        let feed = Feed::default();
        let inner = match how {
            Compression::Gzip => Inner::Gzip(Box::new(MultiGzDecoder::new(feed))),
            Compression::Deflate => Inner::Deflate(Box::new(ZlibDecoder::new(feed))),
            Compression::Zstd => Inner::Zstd(Box::new(Zstd::new(feed))),
            Compression::Brotli => {
                Inner::Brotli(Box::new(brotli_decompressor::Decompressor::new(feed, 4096)))
            }
        };
        Ok(Self { how, inner, piece: vec![0; PIECE], taken: 0, given: 0 })
    }

    /// Adds the next bytes, and emits what they decompress to.
    pub fn push(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>,
    ) -> Result<(), CaptureError> {
        self.take(bytes);
        while let Some(piece) = self.next()? {
            sink(piece)?;
        }
        Ok(())
    }

    /// Ends the input, and emits the rest.
    pub fn finish(
        &mut self,
        sink: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>,
    ) -> Result<(), CaptureError> {
        self.end();
        while let Some(piece) = self.next()? {
            sink(piece)?;
        }
        Ok(())
    }

    /// Adds the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.feed().push(bytes);
        self.taken += bytes.len() as u64;
    }

    /// Ends the input.
    pub(super) fn end(&mut self) {
        self.feed().ended = true;
    }

    /// Returns the next decompressed piece.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, CaptureError> {
        let read = match &mut self.inner {
            Inner::Gzip(inner) => inner.read(&mut self.piece),
            Inner::Deflate(inner) => inner.read(&mut self.piece),
            Inner::Zstd(inner) => inner.read(&mut self.piece),
            Inner::Brotli(inner) => inner.read(&mut self.piece),
        };
        match read {
            Ok(0) if self.has_more_after_brotli() => Err(self.fail("it has trailing bytes".to_owned())),
            Ok(0) => Ok(None),
            Ok(length) => {
                self.given += length as u64;
                self.bound()?;
                Ok(Some(&self.piece[..length]))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(self.fail(self.in_words(&error))),
        }
    }

    /// Returns whether bytes follow the end of a Brotli stream: its decoder only reports that when called
    /// again.
    fn has_more_after_brotli(&mut self) -> bool {
        let Inner::Brotli(inner) = &mut self.inner else { return false };
        let is_refused = |error: &io::Error| error.kind() != io::ErrorKind::WouldBlock;
        inner.read(&mut self.piece).is_err_and(|error| is_refused(&error))
            || !inner.get_ref().rest().is_empty()
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

    fn in_words(&self, error: &io::Error) -> String {
        let is_brotli = matches!(self.inner, Inner::Brotli(_));
        match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is truncated".to_owned(),
            // This decoder reports all errors alike.
            _ if is_brotli && self.feed_ref().ended => "it is truncated or damaged".to_owned(),
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

    fn feed_ref(&self) -> &Feed {
        match &self.inner {
            Inner::Gzip(inner) => inner.get_ref(),
            Inner::Deflate(inner) => inner.get_ref(),
            Inner::Zstd(inner) => inner.feed_ref(),
            Inner::Brotli(inner) => inner.get_ref(),
        }
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { how, taken, given, .. } = self;
        f.debug_struct("Decompressor").field("how", how).field("taken", taken).field("given", given).finish()
    }
}
