//! JSON texts, compared with `serde_json`, which searches strings byte by byte.

use serde::de::IgnoredAny;
use spec::json::{Scanner, decode, encode, is_escaped};

/// Reads bytes as a JSON text, and as the inside of a string. Asserts that both are accepted exactly if `serde_json`
/// accepts them, and that strings have the same text.
pub fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    assert_eq!(is_json(text), serde_json::from_str::<IgnoredAny>(text).is_ok(), "{text:?}");
    assert_eq!(is_escaped(text), text.contains('\\'), "{text:?}");
    let quoted = format!("\"{text}\"");
    assert_eq!(is_json(&quoted), serde_json::from_str::<IgnoredAny>(&quoted).is_ok(), "{quoted:?}");
    if let Ok(decoded) = serde_json::from_str::<String>(&quoted) {
        assert_eq!(decode(text), (decoded.into(), false), "{quoted:?}");
    }
    let mut encoded = String::new();
    encode(text, &mut encoded);
    assert_eq!(serde_json::from_str::<String>(&encoded).expect("it is a JSON string"), text);
}

fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.skip().and_then(|()| scanner.end()).is_ok()
}
