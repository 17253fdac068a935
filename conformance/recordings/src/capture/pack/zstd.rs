//! Zstandard, block by block.
//!
//! The decoder requires whole blocks, and reads a single frame; a recording has chunks of any size, and may have
//! several frames.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::feed::Feed;

pub(in crate::capture) struct Zstd {
    feed: Feed,
    decoder: FrameDecoder,
    place: FramePart,
}

enum FramePart {
    /// Between frames.
    Outside,
    /// In a skippable frame with this many bytes left.
    Skipped(u32),
    /// In a frame, with or without a checksum.
    Frame(bool),
}

impl Zstd {
    pub(in crate::capture) fn new(feed: Feed) -> Self {
        Self { feed, decoder: FrameDecoder::new(), place: FramePart::Outside }
    }

    pub(in crate::capture) const fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }

    fn open_frame(&mut self) -> io::Result<()> {
        let magic = self.feed.want(4)?;
        if magic[0] & 0xf0 == 0x50 && magic[1..] == [0x2a, 0x4d, 0x18] {
            let header = self.feed.want(8)?;
            let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
            self.feed.consume(8);
            self.place = FramePart::Skipped(length);
            return Ok(());
        }
        let descriptor = self.feed.want(5)?[4];
        let is_single = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size = match descriptor >> 6 {
            0 => usize::from(is_single),
            more => 1 << more,
        };
        let length = 5 + usize::from(!is_single) + dictionary + size;
        self.decoder.init(self.feed.want(length)?).map_err(io::Error::other)?;
        self.feed.consume(length);
        self.place = FramePart::Frame(descriptor & 4 != 0);
        Ok(())
    }

    fn read_block(&mut self, has_checksum: bool) -> io::Result<()> {
        let header = self.feed.want(3)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let (is_last, kind) = (header & 1 != 0, header >> 1 & 3);
        let content = if kind == REPEATED { 1 } else { header >> 3 };
        let checksum = if is_last && has_checksum { 4 } else { 0 };
        let length = 3 + usize::try_from(content).unwrap_or(usize::MAX) + checksum;
        let block = self.feed.want(length)?;
        self.decoder.decode_blocks(block, BlockDecodingStrategy::UptoBlocks(1)).map_err(io::Error::other)?;
        self.feed.consume(length);
        Ok(())
    }

    fn close_frame(&mut self) -> io::Result<()> {
        self.place = FramePart::Outside;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(io::Error::other("its checksum does not match"));
        }
        Ok(())
    }
}

/// Type of a block that repeats one byte.
const REPEATED: u32 = 1;

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.place {
                FramePart::Outside if self.feed.fill_buf()?.is_empty() => return Ok(0),
                FramePart::Outside => self.open_frame()?,
                FramePart::Skipped(0) => self.place = FramePart::Outside,
                FramePart::Skipped(length) => {
                    let there = self.feed.want(1).map(|_| self.feed.rest().len())?;
                    let used = there.min(usize::try_from(length).unwrap_or(usize::MAX));
                    self.feed.consume(used);
                    self.place = FramePart::Skipped(length - u32::try_from(used).unwrap_or(length));
                }
                FramePart::Frame(has_checksum) => {
                    let length = self.decoder.read(buffer)?;
                    if length > 0 {
                        return Ok(length);
                    }
                    if self.decoder.is_finished() {
                        self.close_frame()
                    } else {
                        self.read_block(has_checksum)
                    }?;
                }
            }
        }
    }
}
