//! What a value should have been, and what it is.

use std::borrow::Cow;
use std::fmt;

/// One place where a value is not what its schema says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer to the place.
    pub pointer: String,
    /// What the schema wants there.
    pub expected: Cow<'static, str>,
    /// What stands there, shortened.
    pub actual: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the event" } else { &self.pointer };
        write!(f, "{place}: expected {}, found {}", self.expected, self.actual)
    }
}

/// One event is described by so many faults; the rest is only counted.
const MOST: usize = 256;

/// The faults of one value, gathered on the way out of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    found: Vec<Found>,
    count: usize,
    /// Faults are only counted while it is not known whether they matter.
    quiet: bool,
}

/// A fault whose pointer is still being written, from its end.
#[derive(Debug, Clone)]
struct Found {
    path: Vec<Segment>,
    expected: Cow<'static, str>,
    actual: String,
}

#[derive(Debug, Clone)]
pub(super) enum Segment {
    Name(&'static str),
    Other(Box<str>),
    Index(usize),
}

impl Faults {
    /// How many there are; grows with every fault, listed or not.
    #[inline]
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    #[cold]
    pub(super) fn add(&mut self, fault: impl FnOnce() -> (Cow<'static, str>, String)) {
        self.count += 1;
        if !self.quiet && self.found.len() < MOST {
            let (expected, actual) = fault();
            self.found.push(Found { path: Vec::new(), expected, actual });
        }
    }

    /// Switches between counting and listing; returns what was set before.
    pub(super) const fn set_quiet(&mut self, quiet: bool) -> bool {
        std::mem::replace(&mut self.quiet, quiet)
    }

    /// All faults since `before` lie inside this member or entry.
    #[cold]
    pub(super) fn inside(&mut self, before: usize, segment: &Segment) {
        // More may have been counted than are listed.
        for fault in self.found.iter_mut().skip(before) {
            fault.path.push(segment.clone());
        }
    }

    pub(super) const fn forget_since(&mut self, before: usize) {
        self.count = before;
    }

    /// The faults, and how many more there were.
    pub(super) fn finish(self) -> (Vec<Fault>, usize) {
        let more = self.count - self.found.len();
        let faults = self.found.into_iter().map(|found| {
            let mut pointer = String::new();
            for segment in found.path.iter().rev() {
                pointer.push('/');
                match segment {
                    Segment::Name(name) => push_escaped(&mut pointer, name),
                    Segment::Other(name) => push_escaped(&mut pointer, name),
                    Segment::Index(index) => pointer.push_str(&index.to_string()),
                }
            }
            Fault { pointer, expected: found.expected, actual: found.actual }
        });
        (faults.collect(), more)
    }
}

fn push_escaped(pointer: &mut String, name: &str) {
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// A value's text, shortened for a message.
pub(super) fn excerpt(raw: &str) -> String {
    const LONGEST: usize = 60;
    let kind = match raw.as_bytes().first() {
        Some(b'"') => "string ",
        Some(b'{') => return "an object".to_owned(),
        Some(b'[') => return "a list".to_owned(),
        Some(b'-' | b'0'..=b'9') => "number ",
        _ => "",
    };
    match raw.char_indices().nth(LONGEST) {
        None => format!("{kind}{raw}"),
        Some((end, _)) => format!("{kind}{}…", &raw[..end]),
    }
}
