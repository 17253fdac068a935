//! A reader that decompresses another one.

use std::io::{self, Read};

use super::CaptureError;
use super::compression::Compression;
use super::decompress::Decompressor;

/// A reader that decompresses another one, for formats without a signature. A [`Reader`](super::Reader)
/// detects the others.
#[derive(Debug)]
pub struct Decompressing<R> {
    input: R,
    decompressor: Decompressor,
    /// Decompressed bytes, and how many of them were read.
    ready: Vec<u8>,
    read: usize,
    has_ended: bool,
}

/// Size of a read.
const PIECE: usize = 16 << 10;

impl<R: Read> Decompressing<R> {
    /// Returns a reader of the decompressed bytes of `input`.
    pub fn new(input: R, compression: Compression) -> Result<Self, CaptureError> {
        let decompressor = Decompressor::new(compression)?;
        Ok(Self { input, decompressor, ready: Vec::new(), read: 0, has_ended: false })
    }

    /// Reads more bytes. Returns whether there were any.
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
