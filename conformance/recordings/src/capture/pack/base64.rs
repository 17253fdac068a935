//! Base64 in recordings.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Both alphabets, with or without padding, as recorders write either.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes a text. Returns `None` if it is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let in_standard = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        _ => byte,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(in_standard).collect();
    LENIENT.decode(digits).ok()
}

/// Encodes bytes.
pub fn encode(bytes: &[u8]) -> String {
    LENIENT.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_alphabet_with_or_without_padding() {
        assert_eq!(decode("").as_deref(), Some(&b""[..]));
        assert_eq!(decode("Zg").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("Zm8=\n").as_deref(), Some(&b"fo"[..]));
        assert_eq!(decode("Zm9v\nYmE/").as_deref(), Some(&b"fooba?"[..]));
        assert_eq!(decode("__8-"), decode("//8+"));
        assert_eq!(decode("{}"), None);
        assert_eq!((encode(b"f"), encode(b"fo")), ("Zg==".to_owned(), "Zm8=".to_owned()));
    }
}
