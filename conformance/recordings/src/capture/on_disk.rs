//! The lines of frames in files of other formats.

use memchr::memmem;

use checker::{Entry, Frame};

/// Number of characters of a frame to search for.
const MAX_CHARACTERS: usize = 160;

/// Number of consecutive misses after which the search stops: the bodies are base64.
const MAX_MISSES: usize = 16;

/// The lines of a file with the frames of its exchanges, in order.
///
/// Recorders write a body as one JSON string, as a block of YAML, or folded over many lines. All keep the order of its
/// characters: white space, quotes and escapes are left out on both sides.
pub(super) struct OnDisk<'a> {
    bytes: &'a [u8],
    writing: [Option<Letters>; 2],
    /// The spelling of the last frame that was found, and the letter after it.
    at: (usize, usize),
    misses: usize,
    /// Line of the last frame found.
    line: u64,
}

/// The letters of a file that bodies also have, with their lines.
struct Letters {
    text: Vec<u8>,
    /// Number of letters before each line.
    before_line: Vec<usize>,
}

impl<'a> OnDisk<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, writing: [None, None], at: (0, 0), misses: 0, line: 1 }
    }

    pub(super) fn placed<'e>(&mut self, mut entry: Entry<'e>) -> Entry<'e> {
        if let Entry::Event(frame) | Entry::Body(frame) = &mut entry {
            self.place(frame);
        }
        entry
    }

    fn place(&mut self, frame: &mut Frame<'_>) {
        let data = frame.place(0).unwrap_or(0);
        if let Some((start, end)) = self.find(frame.source, data) {
            self.line = start;
            frame.is_on_one_line = start == end;
        } else {
            frame.is_on_one_line = true;
        }
        frame.line = self.line;
    }

    fn find(&mut self, source: &[u8], data: usize) -> Option<(u64, u64)> {
        if self.misses >= MAX_MISSES {
            return None;
        }
        let (head, rest) = source.split_at(data.min(source.len()));
        let head = plain(head);
        let mut sought = head.clone();
        sought.extend(plain(rest.get(..4 * MAX_CHARACTERS).unwrap_or(rest)));
        sought.truncate(MAX_CHARACTERS);
        if sought.is_empty() {
            return None;
        }
        for writing in [self.at.0, 1 - self.at.0] {
            let bytes = self.bytes;
            let letters = self.writing[writing].get_or_insert_with(|| Letters::of(bytes, writing == 0));
            let from = if writing == self.at.0 { self.at.1 } else { 0 };
            let Some(found) = memmem::find(letters.text.get(from..)?, &sought) else { continue };
            let start = from + found;
            self.at = (writing, start + sought.len());
            self.misses = 0;
            // A body is all data: it is on one line if its end is.
            let before = if head.is_empty() { sought.len() } else { head.len() };
            let of_data = start + before.min(sought.len().saturating_sub(1));
            return Some((letters.line(start), letters.line(of_data)));
        }
        self.misses += 1;
        None
    }
}

impl Letters {
    fn of(bytes: &[u8], is_escaped: bool) -> Self {
        let mut letters = Self { text: Vec::with_capacity(bytes.len()), before_line: Vec::new() };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            letters.before_line.push(letters.text.len());
            if is_escaped {
                unescape(line, &mut letters.text);
            } else {
                letters.text.extend(line.iter().copied().filter(is_letter));
            }
        }
        letters
    }

    fn line(&self, letter: usize) -> u64 {
        self.before_line.partition_point(|before| *before <= letter) as u64
    }
}

/// The byte is the same in all spellings.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what `filter` asks for")]
fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\')
}

fn plain(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(is_letter).collect()
}

/// JSON and YAML's double quotes have backslash escapes.
fn unescape(line: &[u8], out: &mut Vec<u8>) {
    let mut rest = line;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'\\' {
            out.extend(Some(*first).filter(is_letter));
            continue;
        }
        let Some((escaped, behind)) = rest.split_first() else { return };
        rest = behind;
        let hex = match escaped {
            b'u' => rest.get(..4),
            b'x' => rest.get(..2),
            _ => None,
        };
        if let Some(digits) = hex.and_then(|hex| std::str::from_utf8(hex).ok()) {
            rest = &rest[digits.len()..];
            let value = u32::from_str_radix(digits, 16).ok().and_then(|value| u8::try_from(value).ok());
            out.extend(value.filter(is_letter));
        } else if !escaped.is_ascii_alphanumeric() {
            out.extend(Some(*escaped).filter(is_letter));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str, frames: &[&str]) -> Vec<(u64, bool)> {
        let mut file = OnDisk::new(file.as_bytes());
        let placed = frames.iter().map(|source| {
            let at = source.find("data: ").map_or(0, |at| at + 6);
            let frame = Frame {
                source: source.as_bytes(),
                data: Some(source[at..].into()),
                places: checker::Places::At(at),
                ..Frame::default()
            };
            match file.placed(Entry::Event(frame)) {
                Entry::Event(frame) => (frame.line, frame.is_on_one_line),
                other => panic!("{other:?}"),
            }
        });
        placed.collect()
    }

    const FRAMES: [&str; 2] =
        ["event: a\ndata: {\"b\":\"c \\n \\u003c\\\"é\"}", "event: a\ndata: {\"b\":\"d\"}"];

    #[test]
    fn frames_are_found_however_a_body_is_written() {
        let json = format!(
            "{{\n \"body\": {},\n \"more\": {}\n}}",
            serde_json::to_string(FRAMES[0]).unwrap(),
            serde_json::to_string(FRAMES[1]).unwrap()
        );
        assert_eq!(lines(&json, &FRAMES), [(2, true), (3, true)]);
        let block = format!(
            "body: |\n  {}\n\n  {}\n",
            FRAMES[0].replace('\n', "\n  "),
            FRAMES[1].replace('\n', "\n  ")
        );
        assert_eq!(lines(&block, &FRAMES), [(2, false), (5, false)]);
        let folded = "body: \"event: a\\ndata: {\\\"b\\\":\\\"c\\\n  \\ \\\\n \\\\u003c\\\\\\\"\\xe9\\\"}\\n\\nevent: a\\n\\\n  data: {\\\"b\\\":\\\"d\\\"}\"";
        assert_eq!(lines(folded, &FRAMES), [(1, true), (2, false)]);
    }

    #[test]
    fn what_is_not_found_stands_behind_what_was() {
        assert_eq!(lines("x\nevent: a data: {b:d}\n", &[FRAMES[1], "data: gone"]), [(2, true), (2, true)]);
    }
}
