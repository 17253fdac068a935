//! Takes secrets out of what an endpoint says.

use std::collections::BTreeSet;

/// Replaces secrets in bytes that come in pieces, wherever these are cut. Their characters are known as they
/// are, and as JSON and percent-encoding write them, once or twice over.
#[derive(Debug)]
pub(super) struct Mask {
    secrets: Vec<Vec<Forms>>,
    /// The bytes that a secret can begin with.
    begins: BTreeSet<u8>,
    /// The last bytes, which a secret may begin with.
    held: Vec<u8>,
}

/// The ways in which a character can be written.
type Forms = Vec<Vec<u8>>;

/// What bytes are to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// All there is can be its beginning.
    Begun,
    /// It is there, and so long.
    Whole(usize),
}

impl Mask {
    /// Takes out these.
    pub(super) fn new(secrets: &[String]) -> Self {
        let forms = |secret: &String| secret.chars().map(forms).collect::<Vec<_>>();
        let secrets: Vec<Vec<Forms>> = secrets.iter().map(forms).collect();
        let first = secrets.iter().filter_map(|secret| secret.first()).flatten();
        let begins = first.filter_map(|form| form.first()).copied().collect();
        Self { secrets, begins, held: Vec::new() }
    }

    /// The bytes without secrets. Those at the end that may belong to one come with the next.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes.to_vec();
        }
        let bytes = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
        self.hide(bytes, false)
    }

    /// What was held back.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.hide(held, true)
    }

    fn hide(&mut self, mut bytes: Vec<u8>, is_all: bool) -> Vec<u8> {
        let mut is_first = [false; 256];
        for byte in &self.begins {
            is_first[usize::from(*byte)] = true;
        }
        let mut at = 0;
        while let Some(next) = bytes[at..].iter().position(|byte| is_first[usize::from(*byte)]) {
            at += next;
            let (mut longest, mut is_begun) = (0, false);
            for secret in &self.secrets {
                match found(secret, &bytes[at..]) {
                    Found::Nothing => {}
                    Found::Begun => is_begun = true,
                    Found::Whole(length) => longest = longest.max(length),
                }
            }
            if is_begun && !is_all {
                self.held = bytes.split_off(at);
                return bytes;
            }
            bytes[at..at + longest].fill(b'*');
            at += longest.max(1);
        }
        bytes
    }
}

/// Whether these bytes begin with a secret.
fn found(secret: &[Forms], bytes: &[u8]) -> Found {
    let mut ends = BTreeSet::from([0]);
    let mut is_begun = false;
    for forms in secret {
        let mut next = BTreeSet::new();
        for end in ends {
            let rest = &bytes[end..];
            for form in forms {
                if rest.starts_with(form) {
                    next.insert(end + form.len());
                }
                is_begun |= rest.len() < form.len() && form.starts_with(rest);
            }
        }
        if next.is_empty() {
            return if is_begun { Found::Begun } else { Found::Nothing };
        }
        ends = next;
    }
    ends.last().map_or(Found::Nothing, |end| Found::Whole(*end))
}

/// All forms of a character, also of what was encoded before.
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
    let mut forms = vec![plain.clone()];
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
        let mut mask = Mask::new(&secrets);
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
    }

    #[test]
    fn what_ends_events_is_not_held_back() {
        let mut mask = Mask::new(&["sk-12345678".to_owned()]);
        assert_eq!(mask.push(b"data: s\n\n"), b"data: s\n\n");
    }
}
