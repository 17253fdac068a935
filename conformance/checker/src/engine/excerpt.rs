//! Excerpts of lines around the place of a finding.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Frame;

/// An excerpt of a line of a recording around a place. It is unescaped text of the endpoint, which may be hostile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Excerpt {
    /// The text of the excerpt.
    pub text: String,
    /// The byte range of the place in the text.
    pub mark: [usize; 2],
    /// Whether text was cut off before, and after.
    pub cut: [bool; 2],
}

/// Maximum number of bytes kept before the place, and from the place on.
const BEFORE: usize = 60;
const FROM_PLACE: usize = 140;

impl Excerpt {
    /// The place is in the source unless the data were decoded. Without a piece, it is all of the data.
    pub(crate) fn of(frame: &Frame<'_>, in_data: Option<&Range<usize>>) -> (Self, Option<usize>) {
        let data = frame.data.as_deref().unwrap_or_default();
        let range = in_data.cloned().unwrap_or(0..data.len());
        if let Some(start) = frame.place(range.start) {
            let at = start.min(frame.source.len());
            return (Self::cut(frame.source, start..start.saturating_add(range.len())), Some(at));
        }
        // Decoded data is shown decoded, with its original line number.
        (Self::cut(data.as_bytes(), range), None)
    }

    /// Only its first line is shown.
    pub(super) fn head(piece: &[u8]) -> Self {
        let end = boundary(piece, piece.len());
        Self::cut(&piece[..end], 0..0)
    }

    fn cut(source: &[u8], place: Range<usize>) -> Self {
        let at = place.start.min(source.len());
        // A line can be long; its length beyond the excerpt does not matter.
        let first = at.saturating_sub(BEFORE + 5);
        let near = memchr::memrchr2(b'\n', b'\r', &source[first..at]).map(|end| first + end + 1);
        let line_start = near.unwrap_or(first);
        let last = source.len().min(at + FROM_PLACE + 1);
        let line_end = memchr::memchr2(b'\n', b'\r', &source[at..last]).map_or(last, |end| at + end);
        let start = if at - line_start <= BEFORE { line_start } else { boundary(source, at - BEFORE) };
        let end = if line_end - at <= FROM_PLACE { line_end } else { boundary(source, at + FROM_PLACE) };
        let before = String::from_utf8_lossy(&source[start..at]);
        let marked = String::from_utf8_lossy(&source[at..place.end.clamp(at, end)]);
        let behind = String::from_utf8_lossy(&source[place.end.clamp(at, end)..end]);
        Self {
            mark: [before.len(), before.len() + marked.len()],
            text: [before, marked, behind].into_iter().map(Cow::into_owned).collect(),
            cut: [start > line_start, end < line_end],
        }
    }
}

fn boundary(bytes: &[u8], mut at: usize) -> usize {
    let least = at.saturating_sub(3);
    while at > least && bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at -= 1;
    }
    at
}

pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let is_pair = |at: &usize| bytes.get(*at..at + 2) == Some(b"\r\n");
    memchr::memchr2_iter(b'\n', b'\r', bytes).filter(|at| !is_pair(at)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let source = format!("event: a\r\ndata: {}X{}", "é".repeat(100), "b".repeat(300));
        let at = source.find('X').unwrap();
        let excerpt = Excerpt::cut(source.as_bytes(), at..at + 1);
        assert_eq!(&excerpt.text[excerpt.mark[0]..excerpt.mark[1]], "X");
        assert_eq!(excerpt.cut, [true, true]);
        assert_eq!(excerpt.text.chars().count(), 30 + FROM_PLACE);
        let short = Excerpt::cut(b"data: 1", 6..7);
        assert_eq!((short.text.as_str(), short.mark, short.cut), ("data: 1", [6, 7], [false, false]));
    }
}
