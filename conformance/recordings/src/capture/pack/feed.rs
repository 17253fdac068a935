//! Received bytes, for decoders that pull them.

use std::io::{self, BufRead, Read};

/// Received bytes, for decoders that pull them: `WouldBlock` if there are none.
#[derive(Debug, Default)]
pub(in crate::capture) struct Feed {
    bytes: Vec<u8>,
    at: usize,
    /// Number of bytes before these.
    before: usize,
    pub(in crate::capture) ended: bool,
}

/// Decoders get blocks of this size, regardless of the chunks: their output before an error is lost with the
/// block, and must not depend on the chunks.
const BLOCK: usize = 64;

impl Feed {
    pub(in crate::capture) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.before += self.at;
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    pub(in crate::capture) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    pub(in crate::capture) fn want(&self, length: usize) -> io::Result<&[u8]> {
        match self.rest().get(..length) {
            Some(bytes) => Ok(bytes),
            None if self.ended => Err(io::ErrorKind::UnexpectedEof.into()),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Read for Feed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let end = (self.before + self.at) / BLOCK * BLOCK + BLOCK - self.before;
        match self.bytes.get(self.at..end) {
            Some(block) => Ok(block),
            None if self.ended => Ok(self.rest()),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}
