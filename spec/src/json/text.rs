//! The text of JSON strings.

use std::borrow::Cow;

use super::plain::{BLOCK, plain_run};

/// Decodes the text between the quotes of a valid string. The flag is set if it has a lone surrogate, which U+FFFD
/// replaces, as Rust strings cannot contain it.
pub fn decode(raw: &str) -> (Cow<'_, str>, bool) {
    if !is_escaped(raw) {
        return (Cow::Borrowed(raw), false);
    }
    let mut decoded = String::with_capacity(raw.len());
    let lone = decode_onto(&mut decoded, raw);
    (Cow::Owned(decoded), lone)
}

/// Decodes a string, and appends it to a text.
pub fn decode_onto(decoded: &mut String, raw: &str) -> bool {
    let (plain, mut rest) = split_at_escape(raw);
    decoded.push_str(plain);
    let mut lone = false;
    while let Some(escape) = rest.strip_prefix('\\') {
        let kind = escape.as_bytes().first().copied().unwrap_or(b'\\');
        rest = escape.get(1..).unwrap_or_default();
        match kind {
            b'b' => decoded.push('\u{8}'),
            b'f' => decoded.push('\u{c}'),
            b'n' => decoded.push('\n'),
            b'r' => decoded.push('\r'),
            b't' => decoded.push('\t'),
            b'u' => {
                let (character, behind) = unicode(rest);
                lone |= character.is_none();
                decoded.push(character.unwrap_or('\u{fffd}'));
                rest = behind;
            }
            other => decoded.push(char::from(other)),
        }
        let (plain, behind) = split_at_escape(rest);
        decoded.push_str(plain);
        rest = behind;
    }
    lone
}

/// Returns whether the text of a string has an escape.
#[inline]
pub fn is_escaped(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    // Most texts are short. The last block overlaps the one before it.
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>(), bytes.last_chunk::<BLOCK>()) {
        (_, _, Some(last)) => bytes.as_chunks::<BLOCK>().0.iter().any(has_escape) || has_escape(last),
        (Some(first), Some(last), None) => has_escape(first) || has_escape(last),
        _ => bytes.contains(&b'\\'),
    }
}

/// It has no branches, so that it is compiled to vector instructions.
#[inline]
fn has_escape<const LENGTH: usize>(block: &[u8; LENGTH]) -> bool {
    let is_one = |byte: u8| byte == b'\\';
    block.iter().fold(false, |found, byte| found | is_one(*byte))
}

fn split_at_escape(raw: &str) -> (&str, &str) {
    let bytes = raw.as_bytes();
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let before = BLOCK * blocks.iter().take_while(|block| !has_escape(block)).count();
    let plain = bytes.iter().skip(before).take_while(|byte| **byte != b'\\').count();
    raw.split_at(before + plain)
}

/// The character of the hexadecimal digits (and of a second escape, for a pair), and the rest.
fn unicode(rest: &str) -> (Option<char>, &str) {
    let Some((high, behind)) = hex(rest) else { return (None, rest) };
    if !(0xd800..0xdc00).contains(&high) {
        return (char::from_u32(high), behind);
    }
    match behind.strip_prefix("\\u").and_then(hex) {
        Some((low, behind)) if (0xdc00..0xe000).contains(&low) => {
            (char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), behind)
        }
        _ => (None, behind),
    }
}

fn hex(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, &text[4..]))
}

/// Appends a string as JSON, quoted and escaped.
pub fn encode(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, behind) = rest.split_at(plain_run(rest.as_bytes()));
        out.push_str(plain);
        let Some(special) = behind.as_bytes().first() else { break };
        match *special {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => {
                out.push_str("\\u00");
                for nibble in [control >> 4, control & 15] {
                    out.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
                }
            }
        }
        rest = &behind[1..];
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_lone_surrogates() {
        assert_eq!(decode(r"a\ud83d\ude00b"), (Cow::Borrowed("a😀b"), false));
        assert_eq!(decode(r"\ud83d"), (Cow::Borrowed("\u{fffd}"), true));
        assert_eq!(decode(r"\ud83dx\n"), (Cow::Borrowed("\u{fffd}x\n"), true));
        assert_eq!(decode(r"\ude00\ud83d\u0041"), (Cow::Borrowed("\u{fffd}\u{fffd}A"), true));
    }

    #[test]
    fn escapes_are_seen_at_every_place() {
        for length in 0..=2 * BLOCK + 9 {
            let plain = "a".repeat(length);
            assert!(!is_escaped(&plain), "{length}");
            for at in 0..length {
                let escaped = format!("{}\\{}", &plain[..at], &plain[at + 1..]);
                assert!(is_escaped(&escaped), "{escaped}");
                assert_eq!(split_at_escape(&escaped), escaped.split_at(at));
            }
        }
    }

    #[test]
    fn encoding_is_undone_by_decoding() {
        let all: String = (0..0x250).filter_map(char::from_u32).chain("😀\u{2028}".chars()).collect();
        let mut out = String::new();
        encode(&all, &mut out);
        assert_eq!(decode(&out[1..out.len() - 1]).0, all);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), all);
    }
}
