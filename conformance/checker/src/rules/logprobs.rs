//! The tokens of log probabilities.

use spec::json::{self, Scan, Scanner};

/// Returns the joined tokens of lists: by their bytes if all have them, as a token may be part of a character. Returns
/// `None` if unknown. What is not a list has no tokens.
pub(super) fn spelled<'l>(lists: impl Iterator<Item = &'l str>) -> Option<String> {
    let mut tokens = Tokens { count: 0, bytes: Some(Vec::new()), text: Some(String::new()) };
    for list in lists {
        json::each_entry(list, |scanner| tokens.add(scanner));
    }
    let Tokens { count, bytes, text } = tokens;
    if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
        return String::from_utf8(bytes).ok();
    }
    text.filter(|text| count > 0 && !text.contains(char::REPLACEMENT_CHARACTER))
}

/// What tokens spell: none if one of them lacks it.
struct Tokens {
    count: usize,
    bytes: Option<Vec<u8>>,
    text: Option<String>,
}

impl Tokens {
    /// Adds the token at the cursor.
    fn add(&mut self, scanner: &mut Scanner<'_>) -> Scan<()> {
        self.count += 1;
        let (mut bytes, mut token) = (None, None);
        scanner.members(|scanner, name| {
            match name {
                b"bytes" => bytes = Some(scanner.raw()?),
                b"token" => token = Some(scanner.raw()?),
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        let bytes = bytes.and_then(|list| list.strip_prefix('[')?.strip_suffix(']'));
        let known = self.bytes.take().zip(bytes);
        self.bytes = known.and_then(|(mut known, list)| {
            for byte in list.split(',').filter(|_| !list.trim_ascii().is_empty()) {
                known.push(byte.trim_ascii().parse().ok()?);
            }
            Some(known)
        });
        let known = self.text.take().zip(token.and_then(json::string));
        self.text = known.map(|(known, token)| known + &*token);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(list: &str) -> Option<String> {
        spelled([list].into_iter())
    }

    #[test]
    fn tokens_spell_what_they_say() {
        assert_eq!(spelling(r#"[{"token":"Hel"},{"token":"lo"}]"#).as_deref(), Some("Hello"));
        assert_eq!(spelling(r#"[{"token":"a\u0308","bytes":null}]"#).as_deref(), Some("a\u{308}"));
    }

    #[test]
    fn pieces_of_characters_are_spelled_by_their_bytes() {
        let halves = r#"[{"token":"\\xc3","bytes":[195]},{"token":"\\xa4","bytes":[164]}]"#;
        assert_eq!(spelling(halves).as_deref(), Some("ä"));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for list in
            ["[]", r#"[{"logprob":-1}]"#, r#"[{"token":"�"}]"#, r#"[{"token":"\\xc3","bytes":[195]}]"#]
        {
            assert_eq!(spelling(list), None, "{list}");
        }
    }
}
