//! A reader that decompresses another one.

use std::io::{self, Read};

use super::compression::Compression;
use super::decompress::Decompressor;

/// A reader that decompresses another one, for formats without a signature. A [`Reader`](super::Reader)
/// detects the others.
#[derive(Debug)]
pub struct Decompressing<R> {
    input: R,
    decompressor: Decompressor,
    piece: Vec<u8>,
    has_ended: bool,
}

/// Size of a read.
const PIECE: usize = 16 << 10;

impl<R: Read> Decompressing<R> {
    /// Returns a reader of the decompressed bytes of `input`.
    pub fn new(input: R, compression: Compression) -> Self {
        let decompressor = Decompressor::new(compression);
        Self { input, decompressor, piece: vec![0; PIECE], has_ended: false }
    }
}

impl<R: Read> Read for Decompressing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.decompressor.read(buffer).map_err(io::Error::other)? {
                0 if !self.has_ended => {}
                length => return Ok(length),
            }
            match self.input.read(&mut self.piece)? {
                0 => {
                    self.has_ended = true;
                    self.decompressor.end();
                }
                length => self.decompressor.take(&self.piece[..length]),
            }
        }
    }
}
