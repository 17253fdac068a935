//! The tokens of log probabilities.

use spec::json::{self, Scan, Scanner, Syntax};

/// Returns what the tokens of valid lists spell if it is not this text: by their bytes if all have them, as a token may be
/// part of a character. Returns `None` if unknown. What is not a list has no tokens.
pub(super) fn misspelled<'l>(lists: impl Iterator<Item = &'l str> + Clone, text: &str) -> Option<String> {
    if Unspelled::is_nothing_after(lists.clone(), text) {
        None
    } else {
        spelled(lists).filter(|spelled| spelled != text)
    }
}

fn spelled<'l>(lists: impl Iterator<Item = &'l str>) -> Option<String> {
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

/// The rest of a text behind tokens that spell its beginning. Nearly all lists spell their text, which this finds
/// without a copy.
struct Unspelled<'t> {
    rest: &'t [u8],
    /// Whether the tokens have bytes, after the first one.
    by_bytes: Option<bool>,
}

impl<'t> Unspelled<'t> {
    fn is_nothing_after<'l>(mut lists: impl Iterator<Item = &'l str>, text: &'t str) -> bool {
        let mut text = Self { rest: text.as_bytes(), by_bytes: None };
        lists.all(|list| json::each_entry(list, |scanner| text.pass(scanner))) && text.rest.is_empty()
    }

    /// Passes the token at the cursor. Fails if it does not spell what is next, or not in the way of those before.
    fn pass(&mut self, scanner: &mut Scanner<'_>) -> Scan<()> {
        let (mut bytes, mut token) = (None, None);
        scanner.members(|scanner, name| {
            let (first, start) = (scanner.peek(), scanner.offset());
            scanner.skip_valid()?;
            match (name, first) {
                (b"bytes", b'[') => bytes = Some(scanner.since(start)),
                (b"token", b'"') => token = Some(scanner.since(start)),
                _ => {}
            }
            Ok(())
        })?;
        let rest = match bytes {
            Some(list) => self.behind_bytes(list),
            None => token.and_then(json::string).and_then(|token| self.rest.strip_prefix(token.as_bytes())),
        };
        let is_alike = *self.by_bytes.get_or_insert(bytes.is_some()) == bytes.is_some();
        self.rest = rest.filter(|_| is_alike).ok_or(Syntax)?;
        Ok(())
    }

    /// Returns the rest behind a list of bytes.
    fn behind_bytes(&self, list: &str) -> Option<&'t [u8]> {
        let (mut rest, mut number) = (self.rest, None);
        for byte in list.bytes().skip(1) {
            match (byte, number) {
                (b'0'..=b'9', known) => {
                    let digit = u32::from(byte - b'0');
                    number = Some(known.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
                }
                (b',' | b']', Some(known)) => {
                    rest = rest.split_first().filter(|(next, _)| u32::from(**next) == known)?.1;
                    number = None;
                }
                (b' ' | b']', None) => {}
                _ => return None,
            }
        }
        Some(rest)
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

    #[test]
    fn what_spells_a_text_is_found_without_a_copy() {
        let right = [
            r#"[{"token":"Hel","top_logprobs":[{"token":"]"}]},{"token":"lo"}]"#,
            r#"[{"token":"Hel","bytes":[72,101,108]},{"bytes":[108, 111],"token":"?"}]"#,
            r#"[{"bytes":null,"token":"H\u0065llo"}]"#,
        ];
        let wrong = [
            "[]",
            "null",
            r#"[{"token":"Hell"}]"#,
            r#"[{"token":"Hello!"}]"#,
            r#"[{"token":"Hello","bytes":[72]}]"#,
            r#"[{"token":"Hello","bytes":[72,101,108,108,111,33]}]"#,
            r#"[{"token":"Hello","bytes":[72,101,108,108,4294967407]}]"#,
            r#"[{"token":"Hel","bytes":[72,101,108]},{"token":"lo"}]"#,
        ];
        for list in right.into_iter().chain(wrong) {
            let is_right = right.contains(&list);
            assert_eq!(Unspelled::is_nothing_after([list].into_iter(), "Hello"), is_right, "{list}");
            let slowly = spelling(list).filter(|spelled| spelled != "Hello");
            assert_eq!(misspelled([list].into_iter(), "Hello"), slowly, "{list}");
        }
        assert!(Unspelled::is_nothing_after([right[0], right[0]].into_iter(), "HelloHello"));
    }
}
