//! What a value should have been, and what it is.

use std::fmt::{self, Display, Formatter};

use super::scanner::DEEPEST;

/// One place where a value is not what its schema says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer to the place.
    pub pointer: String,
    /// What is wrong there.
    pub kind: FaultKind,
    /// What stands there.
    pub actual: Actual,
}

/// In which way a value is not what its schema says. Its text says what the schema wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The value is another one.
    Value(Wanted),
    /// An object lacks a property, or has no value in it that tells what the object is.
    Missing {
        /// The name of the property.
        property: &'static str,
        /// What it should hold.
        wanted: Wanted,
    },
    /// An object has a property that its schema forbids.
    Undeclared,
    /// An object has a property twice.
    Repeated,
    /// A property has a name that its schema forbids; these are the names that it allows.
    Name(&'static str),
    /// An object has more properties than this.
    TooMany(u64),
    /// A value lies deeper than validators go.
    TooDeep,
}

/// What a schema wants of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Any value.
    Anything,
    /// A value of this description, for example `a number of at least 0`.
    Described(&'static str),
    /// Exactly this string.
    Constant(&'static str),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// One of these strings, as far as is known: a newer server may add others.
    Known(&'static [&'static str]),
}

/// What stands where a schema wants something else; texts are shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actual {
    /// Nothing.
    Nothing,
    /// Nothing, or no string.
    NoString,
    /// A string, as JSON writes it.
    String(String),
    /// A number, as JSON writes it.
    Number(String),
    /// `true`, `false` or `null`.
    Word(String),
    /// A list.
    List,
    /// An object.
    Object,
    /// A list with this number of entries.
    Entries(usize),
    /// A property of this name.
    Name(String),
    /// A second property of the same name.
    SameName,
    /// More properties than are allowed.
    More,
}

impl FaultKind {
    /// Returns the name of the property that is missing, if that is the fault.
    pub const fn missing(&self) -> Option<&'static str> {
        match self {
            Self::Missing { property, .. } => Some(property),
            _ => None,
        }
    }
}

impl Actual {
    /// Returns what a piece of JSON is, shortened.
    pub(super) fn of(raw: &str) -> Self {
        match raw.as_bytes().first() {
            Some(b'"') => Self::String(shortened(raw)),
            Some(b'{') => Self::Object,
            Some(b'[') => Self::List,
            Some(b'-' | b'0'..=b'9') => Self::Number(shortened(raw)),
            _ => Self::Word(shortened(raw)),
        }
    }

    /// Returns a property of this name.
    pub(super) fn name(name: &str) -> Self {
        Self::Name(shortened(name))
    }

    /// Returns the string that stands there, if it is one and not too long to be kept.
    pub fn string(&self) -> Option<&str> {
        match self {
            Self::String(raw) => raw.strip_prefix('"')?.strip_suffix('"'),
            _ => None,
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the event" } else { &self.pointer };
        write!(f, "{place}: expected {}, found {}", self.kind, self.actual)
    }
}

impl Display for FaultKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(wanted) => wanted.fmt(f),
            Self::Missing { property, wanted: Wanted::Anything } => write!(f, "property \"{property}\""),
            Self::Missing { property, wanted } => write!(f, "property \"{property}\": {wanted}"),
            Self::Undeclared => f.write_str("no property of this name"),
            Self::Repeated => f.write_str("a name to stand once"),
            Self::Name(rules) => write!(f, "names that are {rules}"),
            Self::TooMany(most) => write!(f, "at most {most} properties"),
            Self::TooDeep => write!(f, "nesting of at most {DEEPEST} levels"),
        }
    }
}

impl Display for Wanted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anything => f.write_str("a value"),
            Self::Described(words) => f.write_str(words),
            Self::Constant(value) | Self::OneOf([value]) => write!(f, "\"{value}\""),
            Self::OneOf(values) => listed(values, f),
            Self::Known([value]) => write!(f, "a known value, \"{value}\""),
            Self::Known(values) => {
                f.write_str("a known value, ")?;
                listed(values, f)
            }
        }
    }
}

fn listed(values: &[&str], f: &mut Formatter<'_>) -> fmt::Result {
    for (at, value) in values.iter().enumerate() {
        write!(f, "{}\"{value}\"", if at == 0 { "one of " } else { ", " })?;
    }
    Ok(())
}

impl Display for Actual {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("none"),
            Self::NoString => f.write_str("none, or no string"),
            Self::String(raw) => write!(f, "string {raw}"),
            Self::Number(raw) => write!(f, "number {raw}"),
            Self::Word(text) | Self::Name(text) => f.write_str(text),
            Self::List => f.write_str("a list"),
            Self::Object => f.write_str("an object"),
            Self::Entries(count) => write!(f, "{count} entries"),
            Self::SameName => f.write_str("the same name again"),
            Self::More => f.write_str("more"),
        }
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
    kind: FaultKind,
    actual: Actual,
}

#[derive(Debug, Clone)]
pub(super) enum Segment {
    Name(&'static str),
    Other(Box<str>),
    Index(usize),
}

impl Faults {
    /// Returns how many there are; grows with every fault, listed or not.
    #[inline]
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    #[cold]
    pub(super) fn add(&mut self, kind: FaultKind, actual: impl FnOnce() -> Actual) {
        self.count += 1;
        if !self.quiet && self.found.len() < MOST {
            self.found.push(Found { path: Vec::new(), kind, actual: actual() });
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

    /// Returns the faults, and how many more there were.
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
            Fault { pointer, kind: found.kind, actual: found.actual }
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

/// Returns the beginning of a text.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
