//! The delta of a text that is expected next.

use std::ops::Range;

use crate::api::Slot;
use crate::event::EventInfo;
use crate::json::{LOST, RawString, Scanner};
use crate::view::{View, usual_count};

/// A delta of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Its text.
    pub text: RawString<'a>,
    /// Its sequence number.
    pub number: u64,
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
}

/// The delta that most often follows another one: it has the next sequence number, and differs only in its text and in
/// values that no rule needs.
#[derive(Debug, Default)]
pub(crate) struct NextDelta {
    /// Its frame, without the values that differ; empty if the last event was no such delta.
    frame: Vec<u8>,
    /// Start of its data.
    data: usize,
    /// The values that differ, in order.
    values: Vec<Gap>,
    /// The position of the text among them.
    text: usize,
    /// Its sequence number, if it is known.
    number: Option<u64>,
    /// The digits of the sequence number.
    digits: Range<usize>,
}

/// The place of a value that is left out.
#[derive(Debug)]
struct Gap {
    at: usize,
    /// The first byte of the last such value. The next one has the same kind.
    first: u8,
}

/// The end of a frame.
const END: &str = "\n\n";

impl FragmentFrame<'_> {
    /// Number of its lines, with the blank one.
    pub const LINES: u64 = 3;
}

impl NextDelta {
    /// Expects a delta after an event, in which these values may vary, if that is one.
    pub(crate) fn learn(&mut self, event: &EventInfo, view: &View<'_>, varying: &[Range<usize>]) {
        self.frame.clear();
        self.number = None;
        let Some((delta, number)) = places(event, view, varying) else { return };
        let text = view.text();
        for piece in ["event: ", event.name, "\ndata: "] {
            self.frame.extend_from_slice(piece.as_bytes());
        }
        self.data = self.frame.len();
        self.values.clear();
        let mut end = 0;
        for value in varying {
            self.frame.extend_from_slice(text.get(end..value.start).unwrap_or_default().as_bytes());
            let at = self.frame.len();
            if value.start == number {
                self.digits = at..at;
            } else {
                if value.start == delta {
                    self.text = self.values.len();
                }
                let first = text.as_bytes().get(value.start).copied().unwrap_or_default();
                self.values.push(Gap { at, first });
            }
            end = value.end;
        }
        self.frame.extend_from_slice(text.get(end..).unwrap_or_default().as_bytes());
        self.frame.extend_from_slice(END.as_bytes());
        self.follow(view);
    }

    /// Expects the sequence number after that of an event.
    pub(crate) fn follow(&mut self, event: &View<'_>) {
        if self.frame.is_empty() {
            return;
        }
        let number = |raw| Some((usual_count(raw)?, raw));
        let Some((number, raw)) = event.raw(Slot::SequenceNumber).and_then(number) else {
            self.number = None;
            return;
        };
        if self.number != Some(number) {
            self.number = Some(number);
            self.write_digits(self.digits.clone(), raw);
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

    /// Expects the number after that of the delta that was expected, if one was.
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
        Some(FragmentFrame { fragment, data: self.data..length - END.len(), length })
    }

    /// Compares a text with a part of the frame. Returns the delta, and the length of that part in the text.
    #[inline]
    fn compare<'a>(&self, part: Range<usize>, text: &'a str) -> Option<(Fragment<'a>, usize)> {
        let number = self.number?;
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
                delta = RawString { raw, escaped: scanner.is_escaped() };
            }
            at = value.at;
        }
        let is_same = scanner.pass_same(self.frame.get(at..part.end)?);
        is_same.then_some((Fragment { text: delta, number }, scanner.offset()))
    }
}

/// Returns where the text and the sequence number of an event start, if it is a delta without values that rules need,
/// and the text between those that vary is plain.
fn places(event: &EventInfo, view: &View<'_>, varying: &[Range<usize>]) -> Option<(usize, usize)> {
    let text = view.text();
    let start = |slot| {
        let (_, (start, _)) = view.places().find(|(found, _)| *found == slot)?;
        varying.iter().map(|value| value.start).find(|value| *value == start as usize)
    };
    let (delta, number) = (start(Slot::Value)?, start(Slot::SequenceNumber)?);
    let is_text = view.raw(Slot::Value).is_some_and(|raw| raw.starts_with('"'));
    let has_logprobs = view.raw(Slot::Logprobs).is_some_and(|list| !matches!(list, "[]" | "null"));
    let begins_with_type = || {
        let rest = text.strip_prefix("{\"type\":\"")?.strip_prefix(event.name)?;
        rest.starts_with('"').then_some(())
    };
    let starts = varying.iter().map(|value| value.start).chain([text.len()]);
    let ends = [0].into_iter().chain(varying.iter().map(|value| value.end));
    let mut between = ends.zip(starts).map(|(end, start)| text.get(end..start).unwrap_or_default());
    let is_fragment = is_text && !has_logprobs && begins_with_type().is_some() && between.all(is_plain);
    is_fragment.then_some((delta, number))
}

/// Returns whether a text has no escapes, no U+FFFD, and no line ends, which would end a line of the frame.
fn is_plain(text: &str) -> bool {
    !text.bytes().fold(false, |found, byte| found | matches!(byte, b'\\' | b'\n' | b'\r' | LOST))
}
