//! Hashes as text.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    digits(&Sha256::digest(bytes))
}

pub(crate) fn digits(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
