//! The delta of a text that is expected next.

use std::ops::Range;

use crate::event::EventInfo;
use crate::json::{LOST, RawString, Scanner};
use crate::view::usual_count;

/// A delta of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Its text.
    pub text: RawString<'a>,
    /// Its sequence number, if such deltas have one.
    pub number: Option<u64>,
}

/// A delta in a frame of server-sent events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentFrame<'a> {
    /// The delta.
    pub fragment: Fragment<'a>,
    /// The place of its data in the frame.
    pub data: Range<usize>,
    /// Length of the frame, with its blank line.
    pub length: usize,
    /// Number of its lines, with the blank one.
    pub lines: u64,
}

/// The delta that most often follows another one: it has the next sequence number, if there are any, and differs only in
/// its text and in values that no rule needs.
#[derive(Debug, Default)]
pub(crate) struct NextDelta {
    /// Its type; none if no delta is expected.
    event: Option<&'static EventInfo>,
    /// Its frame, without the values that differ.
    frame: Vec<u8>,
    /// Number of lines of the frame, with the blank one.
    lines: u64,
    /// Start of its data.
    data: usize,
    /// The values that differ, in order.
    values: Vec<Gap>,
    /// The position of the text among them.
    text: usize,
    /// Whether deltas have had spaces in front of the last brace: some servers hide their length by a random number of them.
    is_spaced: bool,
    /// Whether it has a sequence number.
    is_numbered: bool,
    /// Its sequence number, if it is known.
    number: Option<u64>,
    /// The digits of the sequence number.
    digits: Range<usize>,
}

/// The place of a value that is left out, or of spaces.
#[derive(Debug)]
struct Gap {
    at: usize,
    /// The first byte of the last such value. The next one has the same kind.
    first: u8,
}

/// The data of a valid delta.
pub(crate) struct LastDelta<'l> {
    pub(crate) text: &'l str,
    /// The values that may vary, in order.
    pub(crate) varying: &'l [Range<usize>],
    /// Where the text of the delta starts.
    pub(crate) value: usize,
    /// Where its sequence number starts.
    pub(crate) number: Option<usize>,
}

/// The end of a frame.
const END: &str = "\n\n";

/// Sequence numbers from here on are not expected: it is unknown whether they are exact.
const MOST: u64 = 1_000_000_000_000_000;

impl NextDelta {
    /// Expects no delta.
    #[inline]
    pub(crate) const fn forget(&mut self) {
        self.event = None;
    }

    pub(crate) const fn is_expected(&self) -> bool {
        self.event.is_some()
    }

    /// Returns itself if a delta of this type is expected.
    #[inline]
    pub(crate) fn of(&self, event: &EventInfo) -> Option<&Self> {
        self.event.is_some_and(|own| std::ptr::eq(own, event)).then_some(self)
    }

    /// Expects a delta after an event with a sequence number, unless its text or that number cannot vary, or what is
    /// between the values that vary is not plain.
    pub(crate) fn learn(
        &mut self,
        event: &'static EventInfo,
        line: Option<&str>,
        last: &LastDelta<'_>,
        number: Option<u64>,
    ) {
        let LastDelta { text, varying, value: delta, number: digits } = *last;
        let varies = |start: usize| varying.iter().any(|value| value.start == start);
        let is_text = text.as_bytes().get(delta) == Some(&b'"') && varies(delta);
        let starts = varying.iter().map(|value| value.start).chain([text.len()]);
        let ends = [0].into_iter().chain(varying.iter().map(|value| value.end));
        let mut between = ends.zip(starts).map(|(end, start)| text.get(end..start).unwrap_or_default());
        if !is_text || !digits.is_none_or(varies) || !between.all(is_plain) {
            return;
        }
        self.event = Some(event);
        self.frame.clear();
        for piece in line.map(|line| ["event: ", line, "\n"]).into_iter().flatten() {
            self.frame.extend_from_slice(piece.as_bytes());
        }
        self.frame.extend_from_slice(b"data: ");
        self.lines = if line.is_some() { 3 } else { 2 };
        self.data = self.frame.len();
        self.number = None;
        self.values.clear();
        let mut end = 0;
        for value in varying {
            self.frame.extend_from_slice(text.get(end..value.start).unwrap_or_default().as_bytes());
            let at = self.frame.len();
            if Some(value.start) == digits {
                let raw = text.get(value.clone()).unwrap_or_default();
                self.frame.extend_from_slice(raw.as_bytes());
                self.digits = at..self.frame.len();
                self.number = usual_count(raw);
            } else {
                if value.start == delta {
                    self.text = self.values.len();
                }
                let first = text.as_bytes().get(value.start).copied().unwrap_or_default();
                self.values.push(Gap { at, first });
            }
            end = value.end;
        }
        let tail = text.get(end..).unwrap_or_default();
        let inner = tail.strip_suffix('}').map(|inner| inner.trim_end_matches(' '));
        self.is_spaced |= inner.is_some_and(|inner| inner.len() + 1 < tail.len());
        let (before, brace) = inner.filter(|_| self.is_spaced).map_or((tail, ""), |inner| (inner, "}"));
        self.frame.extend_from_slice(before.as_bytes());
        if !brace.is_empty() {
            self.values.push(Gap { at: self.frame.len(), first: b' ' });
        }
        self.frame.extend_from_slice(brace.as_bytes());
        self.frame.extend_from_slice(END.as_bytes());
        self.is_numbered = digits.is_some();
        self.follow(number);
    }

    /// Expects deltas with spaces from now on if the last one has some: the next one is then learned anew.
    #[inline]
    pub(crate) fn note_spaces(&mut self, data: &str) {
        if !self.is_spaced && data.ends_with(" }") {
            self.is_spaced = true;
            self.forget();
        }
    }

    /// Expects the sequence number after this one.
    pub(crate) fn follow(&mut self, number: Option<u64>) {
        if self.event.is_none() || !self.is_numbered {
            return;
        }
        let number = number.filter(|number| *number < MOST);
        if self.number != number {
            self.number = number;
            let digits = number.map(|number| number.to_string()).unwrap_or_default();
            self.write_digits(self.digits.clone(), &digits);
        }
        self.advance();
    }

    fn write_digits(&mut self, place: Range<usize>, digits: &str) {
        let end = place.start + digits.len();
        for value in self.values.iter_mut().filter(|value| value.at >= place.end) {
            value.at = value.at - place.end + end;
        }
        self.digits.end = self.digits.end - place.end + end;
        self.frame.splice(place, digits.bytes());
    }

    /// Expects the next number, if a delta was expected.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let Some(number) = &mut self.number else { return };
        *number += 1;
        for digit in self.frame.get_mut(self.digits.clone()).unwrap_or_default().iter_mut().rev() {
            if *digit != b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        self.write_digits(self.digits.start..self.digits.start, "1");
    }

    /// Returns the delta, if the data is the expected one.
    #[inline]
    pub(crate) fn in_data<'a>(&self, data: &'a str) -> Option<Fragment<'a>> {
        let end = self.frame.len().checked_sub(END.len())?;
        let (fragment, length) = self.compare(self.data..end, data)?;
        (length == data.len()).then_some(fragment)
    }

    /// Returns the delta, if the frame at the start of a text is the expected one.
    #[inline]
    pub(crate) fn in_frame<'a>(&self, text: &'a str) -> Option<FragmentFrame<'a>> {
        let (fragment, length) = self.compare(0..self.frame.len(), text)?;
        Some(FragmentFrame { fragment, data: self.data..length - END.len(), length, lines: self.lines })
    }

    /// Compares a text with a part of the frame. Returns the delta, and the length of that part in the text.
    #[inline]
    fn compare<'a>(&self, part: Range<usize>, text: &'a str) -> Option<(Fragment<'a>, usize)> {
        if self.number.is_some() != self.is_numbered {
            return None;
        }
        let mut scanner = Scanner::new(text);
        let mut delta = RawString { raw: "", escaped: false };
        let mut at = part.start;
        for (nth, value) in self.values.iter().enumerate() {
            if !scanner.pass_same(self.frame.get(at..value.at)?) {
                return None;
            }
            let start = scanner.offset();
            if !scanner.pass_alike(value.first)? {
                return None;
            }
            if nth == self.text {
                let raw = text.get(start + 1..scanner.offset() - 1)?;
                delta = RawString { raw, escaped: scanner.escaped };
            }
            at = value.at;
        }
        let is_same = scanner.pass_same(self.frame.get(at..part.end)?);
        is_same.then_some((Fragment { text: delta, number: self.number }, scanner.offset()))
    }
}

/// Returns whether a text has no escapes, no U+FFFD, and no line ends, which would end a line of the frame.
fn is_plain(text: &str) -> bool {
    !text.bytes().fold(false, |found, byte| found | matches!(byte, b'\\' | b'\n' | b'\r' | LOST))
}
