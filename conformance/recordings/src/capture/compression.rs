//! What recordings, and the bodies in them, are compressed with.

use std::io::{self, Read};

use super::CaptureError;
use super::decompress::Decompressor;

/// How bytes are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip, of one or more members.
    Gzip,
    /// zlib, which HTTP calls `deflate`.
    Deflate,
    /// Zstandard, of one or more frames.
    Zstd,
    /// Brotli. It has no mark that it could be known by.
    Brotli,
}

impl Compression {
    /// So much may come out of any recording or body, however little it is compressed to.
    pub const LEAST: u64 = 64 << 20;
    /// Beyond that, so many times what went in: more than any recorded stream, far less than what is
    /// made to fill memories.
    pub const RATIO: u64 = 200;

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
            Self::Brotli => "br",
        }
    }

    /// Returns whether what begins so is compressed in one of the ways that have a signature.
    pub fn is_begun(start: &[u8]) -> bool {
        matches!(Mark::of(start), Mark::Is(_))
    }

    /// The one that the ending of a file's name, or a `content-encoding`, stands for.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "gz" | "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "zst" | "zstd" => Self::Zstd,
            "br" => Self::Brotli,
            _ => return None,
        })
    }
}

/// What the first bytes of a recording say of its compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    None,
    /// More bytes have to come.
    Perhaps,
    Is(Compression),
}

impl Mark {
    pub(super) fn of(start: &[u8]) -> Self {
        const MARKS: [(&[u8], Compression); 2] =
            [(&[0x1f, 0x8b], Compression::Gzip), (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd)];
        for (mark, compression) in MARKS {
            if start.starts_with(mark) {
                return Self::Is(compression);
            }
            if mark.starts_with(start) {
                return Self::Perhaps;
            }
        }
        // Zstandard may begin with frames that are there to be skipped.
        if let [0x50..=0x5f, rest @ ..] = start {
            const SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];
            if rest.starts_with(&SKIPPED) {
                return Self::Is(Compression::Zstd);
            }
            if SKIPPED.starts_with(rest) {
                return Self::Perhaps;
            }
        }
        Self::None
    }
}

/// Reads what something else reads compressed. For recordings whose own bytes do not tell: those with a
/// mark a [`Reader`](super::Reader) recognises by itself.
#[derive(Debug)]
pub struct Decompressing<R> {
    input: R,
    decompressor: Decompressor,
    /// What was decompressed, and how much of it was read.
    ready: Vec<u8>,
    read: usize,
    has_ended: bool,
}

/// So much is read at once.
const PIECE: usize = 16 << 10;

impl<R: Read> Decompressing<R> {
    /// What is read from `input`, decompressed.
    pub fn new(input: R, compression: Compression) -> Result<Self, CaptureError> {
        let decompressor = Decompressor::new(compression)?;
        Ok(Self { input, decompressor, ready: Vec::new(), read: 0, has_ended: false })
    }

    /// Whether there is more to read.
    fn fill(&mut self) -> io::Result<bool> {
        self.ready.clear();
        self.read = 0;
        loop {
            if let Some(piece) = self.decompressor.next().map_err(io::Error::other)? {
                self.ready.extend_from_slice(piece);
                return Ok(true);
            }
            if self.has_ended {
                return Ok(false);
            }
            let mut piece = vec![0; PIECE];
            match self.input.read(&mut piece)? {
                0 => {
                    self.has_ended = true;
                    self.decompressor.end();
                }
                length => self.decompressor.take(&piece[..length]),
            }
        }
    }
}

impl<R: Read> Read for Decompressing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.ready.len() && !self.fill()? {
            return Ok(0);
        }
        let rest = &self.ready[self.read..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}
