//! Redaction of secrets in responses.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use base64::prelude::Engine as _;

use crate::digest::digits;

/// Redacts secrets in chunks, even if a secret is split across chunks.
#[derive(Debug)]
pub struct Mask {
    secrets: Secrets,
    /// The last bytes. A secret may begin in them.
    held: Vec<u8>,
}

/// Secrets in all spellings: any case, JSON- and percent-encoded up to twice, base64 and hexadecimal, and
/// split over lines of server-sent events. Copies are cheap.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Patterns>);

#[derive(Debug)]
struct Patterns {
    all: Vec<Pattern>,
    /// The possible first bytes of all.
    begins: [bool; 256],
    /// Whether two bytes, as a number, can be the first of any. Where no secret is, they are rare.
    pairs: Vec<bool>,
}

/// A secret in one encoding. A character has five forms or more, and escapes mix: 20 characters have more than 10^13
/// spellings. No search for listed words, such as Aho-Corasick, can hold them.
#[derive(Debug)]
struct Pattern {
    characters: Vec<Forms>,
    /// Its possible first bytes.
    begins: [bool; 256],
}

/// The spellings of a character.
type Forms = Vec<Vec<u8>>;

/// The possible ends of the characters of a pattern found so far, and of those including the next one. Reused, as a
/// search tries many positions.
#[derive(Debug, Default)]
struct Ends {
    ends: Vec<usize>,
    next: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretFound {
    Nothing,
    /// All bytes may be the start of the secret.
    Begun,
    /// The secret is present with this length.
    Whole(usize),
}

impl Secrets {
    /// Returns the spellings of these secrets.
    pub fn new(secrets: &[String]) -> Self {
        let texts: BTreeSet<String> = secrets.iter().flat_map(|secret| encodings(secret)).collect();
        let all: Vec<Pattern> = texts.iter().map(|text| Pattern::new(text)).collect();
        let mut begins = [false; 256];
        for pattern in &all {
            begins.iter_mut().zip(pattern.begins).for_each(|(any, this)| *any |= this);
        }
        let mut pairs = vec![false; 1 << 16];
        for pair in all.iter().flat_map(Pattern::pairs) {
            pairs[pair] = true;
        }
        Self(Arc::new(Patterns { all, begins, pairs }))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.all.is_empty()
    }

    pub(super) fn longest(&self) -> usize {
        self.0.all.iter().map(|pattern| pattern.characters.len()).max().unwrap_or_default()
    }

    /// Line ends inside of a secret are left out.
    pub(super) fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.search(bytes, true).0
    }

    /// Also returns the start of a secret that may continue after these bytes.
    fn search(&self, bytes: &[u8], is_all: bool) -> (Vec<Range<usize>>, Option<usize>) {
        let Patterns { all, begins, pairs } = &*self.0;
        let (mut places, mut at, mut ends) = (Vec::new(), 0, Ends::default());
        while let Some(next) = bytes[at..].iter().position(|byte| begins[usize::from(*byte)]) {
            at += next;
            let rest = &bytes[at..];
            if rest.first_chunk().is_some_and(|pair| !pairs[number(*pair)]) {
                at += 1;
                continue;
            }
            let (mut longest, mut is_begun) = (0, false);
            for pattern in all.iter().filter(|pattern| pattern.begins[usize::from(rest[0])]) {
                match pattern.found(rest, &mut ends) {
                    SecretFound::Nothing => {}
                    SecretFound::Begun => is_begun = true,
                    SecretFound::Whole(length) => longest = longest.max(length),
                }
            }
            if is_begun && !is_all {
                return (places, Some(at));
            }
            let end = at + longest;
            let mut begin = at;
            while begin < end {
                let line_end = (begin..end).find_map(|place| Some((place, line_end(&bytes[place..])?)));
                let (until, next) = line_end.map_or((end, end), |(place, length)| (place, place + length));
                places.push(begin..until);
                begin = next;
            }
            at += longest.max(1);
        }
        (places, None)
    }
}

impl Pattern {
    fn new(text: &str) -> Self {
        let characters: Vec<Forms> = text.chars().map(forms).collect();
        let mut begins = [false; 256];
        for byte in characters.first().into_iter().flatten().filter_map(|form| form.first()) {
            begins[usize::from(*byte)] = true;
        }
        Self { characters, begins }
    }

    fn pairs(&self) -> impl Iterator<Item = usize> {
        // A line may end behind a character, and anything may follow the last one.
        let behind: Vec<u8> = match self.characters.get(1) {
            Some(forms) => forms.iter().map(|form| form[0]).chain(*b"\r\n").collect(),
            None => (0..=u8::MAX).collect(),
        };
        self.characters.first().into_iter().flatten().flat_map(move |form| {
            let second = if form.len() > 1 { &form[1..2] } else { &*behind };
            second.iter().map(|second| number([form[0], *second])).collect::<Vec<_>>()
        })
    }

    fn found(&self, bytes: &[u8], Ends { ends, next }: &mut Ends) -> SecretFound {
        ends.clear();
        ends.push(0);
        let mut is_begun = false;
        for (at, forms) in self.characters.iter().enumerate() {
            next.clear();
            for end in ends.iter().copied() {
                let rest = &bytes[end..];
                let is_within = at > 0;
                let after = if is_within { line_end(rest) } else { None };
                is_begun |= is_within && may_be_line_end(rest);
                for (from, rest) in [Some((end, rest)), after.map(|length| (end + length, &rest[length..]))]
                    .into_iter()
                    .flatten()
                {
                    for form in forms {
                        let until = from + form.len();
                        if rest.starts_with(form) && !next.contains(&until) {
                            next.push(until);
                        }
                        is_begun |= rest.len() < form.len() && form.starts_with(rest);
                    }
                }
            }
            if next.is_empty() {
                return if is_begun { SecretFound::Begun } else { SecretFound::Nothing };
            }
            std::mem::swap(ends, next);
        }
        ends.iter().copied().max().map_or(SecretFound::Nothing, SecretFound::Whole)
    }
}

impl Mask {
    /// Returns a mask of these secrets.
    pub const fn new(secrets: Secrets) -> Self {
        Self { secrets, held: Vec::new() }
    }

    /// Returns the bytes without secrets. Trailing bytes that may belong to one are held back.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes.to_vec();
        }
        let bytes = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
        self.hide(bytes, false)
    }

    /// Returns the held back bytes.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.hide(held, true)
    }

    fn hide(&mut self, mut bytes: Vec<u8>, is_all: bool) -> Vec<u8> {
        let (places, begun) = self.secrets.search(&bytes, is_all);
        for place in places {
            bytes[place].fill(b'*');
        }
        if let Some(begun) = begun {
            self.held = bytes.split_off(begun);
        }
        bytes
    }
}

fn number(pair: [u8; 2]) -> usize {
    usize::from(u16::from_be_bytes(pair))
}

/// Field names of a stream.
const FIELDS: [&[u8]; 4] = [b"data:", b":", b"event:", b"id:"];

/// The next field name belongs to the line end.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let rest = after_line_end(bytes)?;
    let rest = FIELDS.iter().find_map(|field| rest.strip_prefix(*field))?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    Some(bytes.len() - rest.len())
}

fn may_be_line_end(bytes: &[u8]) -> bool {
    bytes == b"\r"
        || after_line_end(bytes).is_some_and(|rest| FIELDS.iter().any(|field| field.starts_with(rest)))
}

fn after_line_end(bytes: &[u8]) -> Option<&[u8]> {
    [b"\r\n".as_slice(), b"\n", b"\r"].into_iter().find_map(|end| bytes.strip_prefix(end))
}

/// Verbatim, in hexadecimal, and in base64 at any offset.
fn encodings(secret: &str) -> Vec<String> {
    let mut encodings = vec![secret.to_owned(), digits(secret.as_bytes())];
    for alphabet in [alphabet::STANDARD, alphabet::URL_SAFE] {
        let engine = GeneralPurpose::new(&alphabet, NO_PAD);
        for before in 0..3 {
            let bytes = [vec![0; before], secret.as_bytes().to_vec()].concat();
            // The characters at both ends depend on the neighbors.
            let (begin, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            encodings.push(engine.encode(bytes)[begin..end].to_owned());
        }
    }
    encodings
}

/// All spellings of a character, including double encoding.
fn forms(character: char) -> Forms {
    let mut buffer = [0; 4];
    let plain = character.encode_utf8(&mut buffer).to_owned();
    let percent = |sign: &str, is_upper: bool| -> String {
        let hex = |byte: u8| if is_upper { format!("{sign}{byte:02X}") } else { format!("{sign}{byte:02x}") };
        plain.bytes().map(hex).collect()
    };
    let escape = |sign: &str, is_upper: bool| -> String {
        let hex = |unit: &mut u16| {
            if is_upper { format!("{sign}u{unit:04X}") } else { format!("{sign}u{unit:04x}") }
        };
        character.encode_utf16(&mut [0; 2]).iter_mut().map(hex).collect()
    };
    let mut forms = vec![plain.clone(), plain.to_ascii_lowercase(), plain.to_ascii_uppercase()];
    for is_upper in [false, true] {
        forms.extend(["%", "%25"].map(|sign| percent(sign, is_upper)));
        forms.extend(["\\", "\\\\"].map(|sign| escape(sign, is_upper)));
    }
    match character {
        '"' => forms.extend(["\\\"", "\\\\\\\""].map(str::to_owned)),
        '\\' => forms.extend(["\\\\", "\\\\\\\\"].map(str::to_owned)),
        '/' => forms.extend(["\\/", "\\\\/", "\\\\\\/"].map(str::to_owned)),
        ' ' => forms.push("+".to_owned()),
        _ => {}
    }
    let forms: BTreeSet<Vec<u8>> = forms.into_iter().map(String::into_bytes).collect();
    forms.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secrets: &[&str], pieces: &[&[u8]]) -> String {
        let secrets: Vec<String> = secrets.iter().map(|&secret| secret.to_owned()).collect();
        let mut mask = Mask::new(Secrets::new(&secrets));
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| mask.push(piece)).collect();
        out.extend(mask.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn secrets_are_found_wherever_they_are_cut() {
        let text = b"the key sk-12345678 and sk-1234 and sk-12345678sk-12345678";
        let expected = "the key *********** and sk-1234 and **********************";
        for cut in 0..text.len() {
            assert_eq!(masked(&["sk-12345678"], &[&text[..cut], &text[cut..]]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn secrets_are_found_however_they_are_written() {
        let secret = "p\"a/s\\s=é w";
        let json = serde_json::to_string(secret).unwrap();
        let twice = serde_json::to_string(&json).unwrap();
        for written in [
            secret,
            json.trim_matches('"'),
            twice.trim_matches('"').trim_matches(['"', '\\']),
            "p\\u0022a\\/s\\u005Cs\\u003d\\u00E9\\u0020w",
            "p%22a%2Fs%5cs%3D%c3%a9+w",
            "p%2522a%252Fs%255Cs%253D%25C3%25A9%2520w",
            "\\u0070%22a/s\\\\s=é w",
        ] {
            let text = format!("<{written}>");
            let hidden = "*".repeat(written.len());
            for cut in 0..text.len() {
                let (head, tail) = text.as_bytes().split_at(cut);
                assert_eq!(masked(&[secret], &[head, tail]), format!("<{hidden}>"), "{written} cut at {cut}");
            }
        }
        assert_eq!(masked(&[secret], &[b"p%22a%2Fs%5cs%3E"]), "p%22a%2Fs%5cs%3E");
    }

    #[test]
    fn the_longest_secret_is_hidden_as_a_whole() {
        let secrets = ["session-1", "a=session-1; b=2"];
        assert_eq!(masked(&secrets, &[b"a=session-1", b"; b=2."]), "****************.");
        assert_eq!(masked(&secrets, &[b"a=session-1", b"; b=3."]), "a=*********; b=3.");
        assert_eq!(masked(&secrets, &[b"a=session-1"]), "a=*********");
        assert_eq!(masked(&["é"], &[b"\xc3", b"\xa9, %C3%A9."]), "**, ******.");
    }

    #[test]
    fn what_ends_events_is_not_held_back() {
        let mut mask = Mask::new(Secrets::new(&["sk-12345678".to_owned()]));
        assert_eq!(mask.push(b"data: s\n\n"), b"data: s\n\n");
    }

    #[test]
    fn encoded_secrets_are_found_wherever_they_stand() {
        let secret = "sk-12345678+/x";
        for before in ["", "a", "ab", "abc"] {
            for engine in [base64::prelude::BASE64_STANDARD, base64::prelude::BASE64_URL_SAFE] {
                let text = engine.encode(format!("{before}{secret}?>"));
                let hidden = masked(&[secret], &[text.as_bytes()]);
                assert!(hidden.matches('*').count() >= secret.len() * 8 / 6 - 1, "{text} {hidden}");
            }
        }
        assert_eq!(
            masked(&["Ab-12345678"], &[b"x-aB-12345678: 41622d3132333435363738"]),
            format!("x-{}: {}", "*".repeat(11), "*".repeat(22))
        );
    }

    #[test]
    fn secrets_are_found_over_lines_of_a_stream() {
        let text = b"data: {sk-12\ndata: 345\r\ndata:678}\n\n: sk-123\n: 45678\nsk-1234\n5678";
        let expected = "data: {*****\ndata: ***\r\ndata:***}\n\n: ******\n: *****\nsk-1234\n5678";
        for cut in 0..text.len() {
            assert_eq!(masked(&["sk-12345678"], &[&text[..cut], &text[cut..]]), expected, "cut at {cut}");
        }
    }
}
