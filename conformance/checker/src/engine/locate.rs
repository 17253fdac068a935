//! The position of a value in a JSON text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::excerpt::line_ends;

/// For many findings in one frame, its lists and lines are read once.
#[derive(Debug, Default)]
pub(super) struct Locator {
    /// The frame and the pointer of the last list that was searched.
    list: (u64, String),
    entries: Vec<Range<usize>>,
    /// The frame, and the types of its objects that are in no list, by pointer: each is as large as all lists in it.
    types: (u64, HashMap<String, Option<String>>),
    lines: Lines,
}

/// Counts the lines that end before an offset of the source of a frame.
#[derive(Debug, Default)]
struct Lines {
    frame: u64,
    before: usize,
    count: u64,
}

impl Locator {
    pub(super) fn value(&mut self, frame: u64, data: &str, pointer: &str) -> Option<Range<usize>> {
        self.in_list(frame, data, pointer).or_else(|| place(data, spec::json::at(data, pointer)?))
    }

    pub(super) fn type_of(&mut self, frame: u64, data: &str, pointer: &str) -> Option<String> {
        if self.types.0 != frame {
            self.types = (frame, HashMap::new());
        }
        if let Some(known) = self.types.1.get(pointer) {
            return known.clone();
        }
        let place = self.value(frame, data, pointer);
        let found = place.and_then(|place| spec::json::string_member(data.get(place)?, "type"));
        let found = found.map(Cow::into_owned);
        if first_index(pointer).is_none() {
            self.types.1.insert(pointer.to_owned(), found.clone());
        }
        found
    }

    pub(super) fn lines(&mut self, frame: u64, source: &[u8], before: usize) -> u64 {
        let known = &self.lines;
        let (from, count) =
            if known.frame == frame && known.before <= before { (known.before, known.count) } else { (0, 0) };
        // The two characters of one line end were counted separately.
        let is_cut = from > 0 && from < before && source.get(from - 1..=from) == Some(b"\r\n");
        let count = count + line_ends(&source[from..before]) - u64::from(is_cut);
        self.lines = Lines { frame, before, count };
        count
    }

    fn in_list(&mut self, frame: u64, data: &str, pointer: &str) -> Option<Range<usize>> {
        let (list, index, rest) = first_index(pointer)?;
        if self.list.0 != frame || self.list.1 != list {
            self.list = (frame, list.to_owned());
            let entries = spec::json::at(data, list).and_then(spec::json::entries).unwrap_or_default();
            self.entries = entries.into_iter().filter_map(|entry| place(data, entry)).collect();
        }
        let entry = data.get(self.entries.get(index)?.clone())?;
        place(data, spec::json::at(entry, rest)?)
    }
}

/// The pointer to the list, the index, and the rest.
fn first_index(pointer: &str) -> Option<(&str, usize, &str)> {
    let slashes = pointer.match_indices('/').map(|(at, _)| at);
    slashes.into_iter().find_map(|at| {
        let behind = &pointer[at + 1..];
        let end = behind.find('/').unwrap_or(behind.len());
        Some((&pointer[..at], behind[..end].parse().ok()?, &behind[end..]))
    })
}

pub(super) fn place(text: &str, piece: &str) -> Option<Range<usize>> {
    let start = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(start..start + piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_on() {
        let source = b"a\r\nb\rc\nd\r\n\r\ne";
        for first in 0..=source.len() {
            for second in 0..=source.len() {
                let mut locator = Locator::default();
                locator.lines(1, source, first);
                assert_eq!(
                    locator.lines(1, source, second),
                    line_ends(&source[..second]),
                    "{first} {second}"
                );
                assert_eq!(locator.lines(2, b"\n", 1), 1);
            }
        }
    }

    #[test]
    fn objects_have_the_types_of_their_frame() {
        let mut locator = Locator::default();
        for (frame, data) in [(1, r#"{"a":{"type":"x","b":[{"type":"y"},{}]}}"#), (2, r#"{"a":{"b":[{}]}}"#)]
        {
            for _ in 0..2 {
                let mut of = |pointer| locator.type_of(frame, data, pointer);
                assert_eq!(of("/a").as_deref(), (frame == 1).then_some("x"));
                assert_eq!(of("/a/b/0").as_deref(), (frame == 1).then_some("y"));
                assert_eq!(of("/a/b/1"), None);
            }
        }
    }

    #[test]
    fn values_are_found_where_they_stand() {
        let text = r#" {"a":[1, {"b":"x"}],"0":{"1":2}} "#;
        let mut locator = Locator::default();
        let mut find = |frame, text, pointer| locator.value(frame, text, pointer).map(|range| &text[range]);
        for _ in 0..2 {
            assert_eq!(find(1, text, "/a/1/b"), Some("\"x\""));
            assert_eq!(find(1, text, "/a/0"), Some("1"));
            assert_eq!(find(1, text, "/a/2"), None);
            assert_eq!(find(1, text, "/a"), Some(r#"[1, {"b":"x"}]"#));
            assert_eq!(find(1, text, "/0/1"), Some("2"));
            assert_eq!(find(2, r#"{"a":[7]}"#, "/a/0"), Some("7"));
        }
    }
}
