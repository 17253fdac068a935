//! What recordings and the bodies in them are packed in.

pub(in crate::capture) mod base64;
pub(in crate::capture) mod body;
pub(in crate::capture) mod compression;
pub(in crate::capture) mod decompress;
pub(in crate::capture) mod decompressing;
pub(in crate::capture) mod feed;
pub(in crate::capture) mod zstd;
