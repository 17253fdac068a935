//! Takes secrets out of what an endpoint says.

/// Replaces secrets in bytes that come in pieces, wherever these are cut.
#[derive(Debug)]
pub(super) struct Mask {
    secrets: Vec<Vec<u8>>,
    /// The last bytes, which a secret may begin with.
    held: Vec<u8>,
}

impl Mask {
    /// Takes out these; the longer ones come first.
    pub(super) const fn new(secrets: Vec<Vec<u8>>) -> Self {
        Self { secrets, held: Vec::new() }
    }

    /// The bytes without secrets. Those at the end that may belong to one come with the next.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
        for secret in &self.secrets {
            let mut from = 0;
            while let Some(at) = memchr::memmem::find(&bytes[from..], secret) {
                let end = from + at + secret.len();
                bytes[from + at..end].fill(b'*');
                from = end;
            }
        }
        let begun = |secret: &Vec<u8>| {
            let longest = bytes.len().min(secret.len() - 1);
            (1..=longest).rev().find(|length| bytes.ends_with(&secret[..*length]))
        };
        let begun = self.secrets.iter().filter_map(begun).max().unwrap_or_default();
        self.held = bytes.split_off(bytes.len() - begun);
        bytes
    }

    /// What was held back.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_wherever_they_are_cut() {
        let text = b"the key sk-12345678 and sk-1234 and sk-12345678sk-12345678";
        let expected = b"the key *********** and sk-1234 and **********************";
        for cut in 0..text.len() {
            let mut mask = Mask::new(vec![b"sk-12345678".to_vec()]);
            let mut out = mask.push(&text[..cut]);
            out.extend(mask.push(&text[cut..]));
            out.extend(mask.finish());
            assert_eq!(out, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_ends_events_is_not_held_back() {
        let mut mask = Mask::new(vec![b"sk-12345678".to_vec()]);
        assert_eq!(mask.push(b"data: s\n\n"), b"data: s\n\n");
    }
}
