//! Encodings and compressions of recordings, and of the bodies in them.

pub(in crate::capture) mod base64;
pub(in crate::capture) mod body;
pub(in crate::capture) mod compression;
pub(in crate::capture) mod decompress;
pub(in crate::capture) mod decompressing;
pub(in crate::capture) mod feed;
pub(in crate::capture) mod zstd;
