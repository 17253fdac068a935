//! A diff of the parts of a golden.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;

use super::values::{data_of, differences};
use recordings::capture::Format;

/// Returns the bytes as text, with invalid UTF-8 escaped.
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

/// Returns the text without the digits of its sequence numbers.
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

/// Returns the shortest diff. A removal next to an addition of the same event type is a change.
pub(super) fn steps(before: &[Part<'_>], after: &[Part<'_>]) -> Vec<Step> {
    let alike = |(old, new): &(&Part<'_>, &Part<'_>)| old.key == new.key;
    let first = before.iter().zip(after).take_while(alike).count();
    let rest = before.len().min(after.len()) - first;
    let last = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(alike).count();
    let (old_end, new_end) = (before.len() - last, after.len() - last);
    let same = |old: usize, new: usize| before[old].key == after[new].key;
    // Number of parts that can be kept from here to the end.
    let width = new_end - first + 1;
    let place = |old: usize, new: usize| (old - first) * width + new - first;
    let mut most = vec![0_u32; (old_end - first + 1) * width];
    for old in (first..old_end).rev() {
        for new in (first..new_end).rev() {
            most[place(old, new)] = if same(old, new) {
                most[place(old + 1, new + 1)] + 1
            } else {
                most[place(old + 1, new)].max(most[place(old, new + 1)])
            };
        }
    }
    let (mut old, mut new) = (first, first);
    let mut steps: Vec<Step> = (0..first).map(Step::Kept).collect();
    let mut hunk = (Vec::new(), Vec::new());
    while old < old_end || new < new_end {
        if old < old_end && new < new_end && same(old, new) {
            pair(&mut hunk, before, after, &mut steps);
            steps.push(Step::Kept(new));
            (old, new) = (old + 1, new + 1);
        } else if new == new_end || old < old_end && most[place(old + 1, new)] >= most[place(old, new + 1)] {
            hunk.0.push(old);
            old += 1;
        } else {
            hunk.1.push(new);
            new += 1;
        }
    }
    pair(&mut hunk, before, after, &mut steps);
    steps.extend((new_end..after.len()).map(Step::Kept));
    steps
}

fn pair(
    (dropped, inserted): &mut (Vec<usize>, Vec<usize>),
    before: &[Part<'_>],
    after: &[Part<'_>],
    steps: &mut Vec<Step>,
) {
    let mut inserted = inserted.drain(..).peekable();
    for (number, old) in dropped.iter().enumerate() {
        let is_of_type = |old: &usize, new: usize| before[*old].is_of_type_of(&after[new]);
        // A later part may be more similar.
        let later = dropped.get(number + 1..).unwrap_or_default();
        let is_it = |new: &usize| {
            is_of_type(old, *new)
                || before[*old].is_like(&after[*new]) && !later.iter().any(|later| is_of_type(later, *new))
        };
        match inserted.next_if(is_it) {
            Some(new) => steps.push(Step::Changed(*old, new)),
            None => steps.push(Step::Dropped(*old)),
        }
    }
    dropped.clear();
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

    /// Returns whether two parts are similar enough to be the same.
    fn is_like(&self, other: &Self) -> bool {
        match (self.value(), other.value()) {
            (Some(one), Some(other)) => differences(&one, &other, false).len() <= 3,
            _ => true,
        }
    }

    fn value(&self) -> Option<Value> {
        serde_json::from_str(self.data()?).ok().filter(Value::is_object)
    }

    /// Returns its data, or its only line.
    fn data(&self) -> Option<&'t str> {
        let text = self.text;
        text.lines()
            .find_map(|line| data_of(line))
            .or_else(|| Some(text.trim_end()).filter(|text| text.starts_with('{')))
    }

    /// Returns its first line.
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
