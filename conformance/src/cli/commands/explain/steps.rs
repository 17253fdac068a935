//! A diff of the parts of a golden.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;
use similar::{Algorithm, DiffTag};

use super::values::{data_of, differences};
use recordings::capture::Format;

/// Invalid UTF-8 is escaped.
pub(super) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// A frame, a message, a head or a body.
pub(super) struct Part<'t> {
    pub(super) text: &'t str,
    /// The key for comparison, without sequence numbers if they were renumbered.
    pub(super) key: Cow<'t, str>,
    /// The line before it.
    pub(super) line: usize,
}

pub(super) fn parts(text: &str, format: Format, is_renumbered: bool) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut first, mut at) = (0, 0, 0);
    let mut add = |range: Range<usize>, line: usize| {
        let text = text.get(range).unwrap_or_default();
        if !text.is_empty() {
            let key = if is_renumbered { unnumbered(text) } else { Cow::Borrowed(text) };
            parts.push(Part { text, key, line });
        }
    };
    for (number, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        if format == Format::WebSocket || line.trim_end().is_empty() {
            add(start..at, first);
            (start, first) = (at, number + 1);
        }
    }
    add(start..at, first);
    parts
}

/// Without the digits of its sequence numbers.
fn unnumbered(text: &str) -> Cow<'_, str> {
    const NAME: &str = "\"sequence_number\":";
    let mut pieces = text.split(NAME);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out += NAME;
        out += piece.trim_start_matches(|character: char| character.is_ascii_digit());
    }
    Cow::Owned(out)
}

/// A step of the diff: the index of a part before, after, or in both.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Kept(usize),
    Dropped(usize),
    Inserted(usize),
    Changed(usize, usize),
}

/// A removal next to an addition of the same event type is a change.
pub(super) fn steps(before: &[Part<'_>], after: &[Part<'_>]) -> Vec<Step> {
    let mut steps = Vec::new();
    for hunk in similar::capture_diff_slices(Algorithm::Myers, &keys(before), &keys(after)) {
        match hunk.tag() {
            DiffTag::Equal => steps.extend(hunk.new_range().map(Step::Kept)),
            _ => pair(before, after, hunk.old_range(), hunk.new_range(), &mut steps),
        }
    }
    steps
}

fn keys<'p>(parts: &'p [Part<'_>]) -> Vec<&'p str> {
    parts.iter().map(|part| &*part.key).collect()
}

fn pair(
    before: &[Part<'_>],
    after: &[Part<'_>],
    mut dropped: Range<usize>,
    inserted: Range<usize>,
    steps: &mut Vec<Step>,
) {
    let is_of_type = |old: usize, new: usize| before[old].is_of_type_of(&after[new]);
    let mut inserted = inserted.peekable();
    while let Some(old) = dropped.next() {
        let is_it = |new: &usize| {
            // A later part may be more similar.
            is_of_type(old, *new)
                || before[old].is_like(&after[*new]) && !dropped.clone().any(|later| is_of_type(later, *new))
        };
        match inserted.next_if(is_it) {
            Some(new) => steps.push(Step::Changed(old, new)),
            None => steps.push(Step::Dropped(old)),
        }
    }
    steps.extend(inserted.map(Step::Inserted));
}

impl<'t> Part<'t> {
    fn is_of_type_of(&self, other: &Self) -> bool {
        match (self.value(), other.value()) {
            (Some(one), Some(other)) => one.get("type") == other.get("type"),
            (None, None) => true,
            _ => false,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        match (self.value(), other.value()) {
            (Some(one), Some(other)) => differences(&one, &other, false).len() <= 3,
            _ => true,
        }
    }

    fn value(&self) -> Option<Value> {
        serde_json::from_str(self.data()?).ok().filter(Value::is_object)
    }

    fn data(&self) -> Option<&'t str> {
        let text = self.text;
        text.lines()
            .find_map(|line| data_of(line))
            .or_else(|| Some(text.trim_end()).filter(|text| text.starts_with('{')))
    }

    pub(super) fn head(&self) -> &'t str {
        let mut lines = self.text.lines().filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        if data_of(first).is_some() {
            first
        } else {
            lines.find(|line| data_of(line).is_some()).unwrap_or(first)
        }
    }
}
