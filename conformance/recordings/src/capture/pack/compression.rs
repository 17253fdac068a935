//! Compression of recordings and of bodies in them.

/// A compression format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip, of one or more members.
    Gzip,
    /// zlib, which HTTP calls `deflate`.
    Deflate,
    /// Zstandard, of one or more frames.
    Zstd,
    /// Brotli, which has no signature.
    Brotli,
}

impl Compression {
    /// Decompressed size that is always allowed, regardless of the ratio.
    pub const LEAST: u64 = 64 << 20;
    /// Maximum ratio beyond that size: more than any recorded stream, far less than a decompression bomb.
    pub const RATIO: u64 = 200;

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
            Self::Brotli => "br",
        }
    }

    /// Returns whether these bytes begin with the signature of a compression format.
    pub fn is_begun(start: &[u8]) -> bool {
        matches!(Mark::of(start), Mark::Is(_))
    }

    /// Returns the compression of a file extension or a `content-encoding`.
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

/// The compression of a recording, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::capture) enum Mark {
    None,
    /// More bytes are needed.
    Perhaps,
    Is(Compression),
}

impl Mark {
    pub(in crate::capture) fn of(start: &[u8]) -> Self {
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
        // Zstandard may begin with skippable frames.
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
