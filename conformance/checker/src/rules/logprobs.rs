//! The tokens of log probabilities.

use std::borrow::Cow;

use spec::json::{self, Scan, Scanner, Syntax};

use crate::engine::{Case, Node};

/// A log probability is at most 0.
pub(super) fn possible(case: &mut Case<'_>, _: &Node) {
    let list = case.record().and_then(|record| record.view.logprobs()).unwrap_or_default();
    let mut above: Option<&str> = None;
    json::each_entry(list, |scanner| {
        scanner.members(|scanner, name| {
            scanner.peek();
            let start = scanner.offset();
            scanner.skip_valid()?;
            let value = scanner.since(start);
            if name == b"logprob" && value.parse().is_ok_and(|number: f64| number > 0.0) {
                above.get_or_insert(value);
            }
            Ok(())
        })
    });
    if let Some(actual) = above {
        case.fault_of_event("0 or less", actual, || {
            format!("a token has the log probability {actual}: more than certain")
        });
    }
}

/// `None` if the tokens of valid lists spell the text, or if that is unknown. They spell by their bytes if all have them, as
/// a token may be part of a character. Another value than a list has no tokens.
pub(super) fn misspelled<'l>(lists: impl Iterator<Item = &'l str> + Clone, text: &str) -> Option<String> {
    if Unspelled::is_nothing_after(lists.clone(), text) {
        return None;
    }
    let [by_bytes, by_text] = spelled(lists);
    let is_other = |spelled: &String| spelled != text;
    by_bytes.filter(is_other).or_else(|| by_text.filter(is_other))
}

/// By their bytes, and by their texts.
fn spelled<'l>(lists: impl Iterator<Item = &'l str>) -> [Option<String>; 2] {
    let mut tokens = Tokens { bytes: Some(Vec::new()), text: Some(String::new()) };
    for list in lists {
        json::each_entry(list, |scanner| tokens.add(scanner));
    }
    let Tokens { bytes, text } = tokens;
    let bytes = bytes.filter(|bytes| !bytes.is_empty());
    [bytes.and_then(|bytes| String::from_utf8(bytes).ok()), text.filter(|text| !text.is_empty())]
}

/// The spelling of tokens: none if one of them lacks it.
struct Tokens {
    bytes: Option<Vec<u8>>,
    text: Option<String>,
}

impl Tokens {
    fn add(&mut self, scanner: &mut Scanner<'_>) -> Scan<()> {
        let Token { bytes, text } = Token::read(scanner)?;
        let known = self.bytes.take().zip(bytes);
        self.bytes = known.and_then(|(mut known, list)| {
            each_byte(list, |byte| {
                known.push(byte);
                Some(())
            })?;
            Some(known)
        });
        let known = self.text.take().zip(text.filter(|text| !is_piece(text)));
        self.text = known.map(|(known, text)| known + &*text);
        Ok(())
    }
}

struct Token<'l> {
    bytes: Option<&'l str>,
    text: Option<Cow<'l, str>>,
}

impl<'l> Token<'l> {
    fn read(scanner: &mut Scanner<'l>) -> Scan<Self> {
        let mut token = Self { bytes: None, text: None };
        scanner.members(|scanner, name| {
            scanner.peek();
            let start = scanner.offset();
            scanner.skip_valid()?;
            match name {
                b"bytes" => token.bytes = Some(scanner.since(start)).filter(|value| value.starts_with('[')),
                b"token" => token.text = json::string(scanner.since(start)),
                _ => {}
            }
            Ok(())
        })?;
        Ok(token)
    }
}

/// The text of the token stands for a piece of a character, whose bytes it cannot have.
fn is_piece(token: &str) -> bool {
    token.contains("\\x") || token.contains(char::REPLACEMENT_CHARACTER)
}

/// `None` if `found` returns it, or if the list has something else than bytes.
fn each_byte(list: &str, mut found: impl FnMut(u8) -> Option<()>) -> Option<()> {
    let mut number: Option<u8> = None;
    for character in list.strip_prefix('[')?.bytes() {
        match character {
            b'0'..=b'9' => {
                let known = number.unwrap_or(0).checked_mul(10)?;
                number = Some(known.checked_add(character - b'0')?);
            }
            b',' | b']' => number.take().map_or(Some(()), &mut found)?,
            _ if character.is_ascii_whitespace() => {}
            _ => return None,
        }
    }
    Some(())
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

    /// The rest must begin with the token, and all tokens have bytes or none has.
    fn pass(&mut self, scanner: &mut Scanner<'_>) -> Scan<()> {
        let Token { bytes, text } = Token::read(scanner)?;
        let mut rest = self.rest;
        let is_next = match bytes {
            Some(list) => each_byte(list, |byte| {
                rest = rest.strip_prefix(&[byte])?;
                Some(())
            })
            .filter(|()| {
                let passed = self.rest.len() - rest.len();
                text.is_none_or(|text| text.as_bytes() == &self.rest[..passed] || is_piece(&text))
            }),
            None => text.and_then(|text| {
                rest = rest.strip_prefix(text.as_bytes())?;
                Some(())
            }),
        };
        let is_alike = *self.by_bytes.get_or_insert(bytes.is_some()) == bytes.is_some();
        self.rest = rest;
        is_next.filter(|()| is_alike).ok_or(Syntax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(list: &str) -> Option<String> {
        let [by_bytes, by_text] = spelled([list].into_iter());
        by_bytes.or(by_text)
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
            r#"[{"token":"Hel","bytes":[72,101,108]},{"bytes":[108],"token":"\\xc3"},{"bytes":[111],"token":"o"}]"#,
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
            r#"[{"token":"Hallo","bytes":[72,101,108,108,111]}]"#,
        ];
        for list in right.into_iter().chain(wrong) {
            let is_right = right.contains(&list);
            assert_eq!(Unspelled::is_nothing_after([list].into_iter(), "Hello"), is_right, "{list}");
            let slowly = spelled([list].into_iter()).into_iter().flatten().find(|spelled| spelled != "Hello");
            assert_eq!(misspelled([list].into_iter(), "Hello"), slowly, "{list}");
        }
        assert!(Unspelled::is_nothing_after([right[0], right[0]].into_iter(), "HelloHello"));
    }
}
