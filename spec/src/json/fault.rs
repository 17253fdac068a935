//! Schema faults: expected and actual values.

use std::fmt::{self, Display, Formatter};

use super::scanner::DEEPEST;

/// A place where a value does not match its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer to the place.
    pub pointer: String,
    /// The kind of fault, with the expected value.
    pub kind: FaultKind,
    /// The actual value.
    pub actual: Actual,
}

/// The kind of a schema fault. Its text is the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The value differs.
    Value(Wanted),
    /// A property is missing, or its value does not identify the object.
    Missing {
        /// The name of the property.
        property: &'static str,
        /// The expected value.
        wanted: Wanted,
        /// A valid value.
        simplest: Simplest,
    },
    /// A property is not declared, and the schema allows no others.
    Undeclared,
    /// A property occurs twice.
    Repeated,
    /// The name of a property is invalid. This describes valid names.
    Name(&'static str),
    /// The object has more properties than this.
    TooMany(u64),
    /// The nesting exceeds the limit of validators.
    TooDeep,
}

/// The value that a schema expects.
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
    /// One of these known strings; a newer server may add others.
    Known(&'static [&'static str]),
}

/// The simplest valid value of a property. Its text is JSON, or names the valid values in angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simplest {
    /// `null`.
    Null,
    /// An empty list.
    EmptyList,
    /// An empty object.
    EmptyObject,
    /// This boolean.
    Boolean(bool),
    /// This string.
    Constant(&'static str),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A value of this kind.
    Kind(&'static str),
}

/// The actual value at a fault; texts are shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actual {
    /// Nothing.
    Nothing,
    /// Nothing, or not a string.
    NoString,
    /// A string, as JSON.
    String(String),
    /// A number, as JSON.
    Number(String),
    /// `true`, `false` or `null`.
    Word(String),
    /// An array.
    List,
    /// An object.
    Object,
    /// An array with this number of entries.
    Entries(usize),
    /// A property of this name.
    Name(String),
    /// A second property of the same name.
    SameName,
    /// More properties than are allowed.
    More,
}

impl FaultKind {
    /// Returns the name of the missing property, if that is the fault.
    pub const fn missing(&self) -> Option<&'static str> {
        match self {
            Self::Missing { property, .. } => Some(property),
            _ => None,
        }
    }
}

impl Actual {
    /// Returns the kind of the value, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nothing | Self::NoString => "none",
            Self::String(_) => "string",
            Self::Number(_) => "number",
            Self::Word(word) if word == "null" => "null",
            Self::Word(_) => "boolean",
            Self::List => "array",
            Self::Object => "object",
            Self::Entries(_) => "entries",
            Self::Name(_) => "name",
            Self::SameName => "repeated",
            Self::More => "more",
        }
    }

    pub(super) fn of(raw: &str) -> Self {
        match raw.as_bytes().first() {
            Some(b'"') => Self::String(shortened(raw)),
            Some(b'{') => Self::Object,
            Some(b'[') => Self::List,
            Some(b'-' | b'0'..=b'9') => Self::Number(shortened(raw)),
            _ => Self::Word(shortened(raw)),
        }
    }

    pub(super) fn name(name: &str) -> Self {
        Self::Name(shortened(name))
    }

    /// Returns the string, if it is one and not shortened.
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
            Self::Missing { property, wanted: Wanted::Anything, .. } => write!(f, "property \"{property}\""),
            Self::Missing { property, wanted, .. } => write!(f, "property \"{property}\": {wanted}"),
            Self::Undeclared => f.write_str("only declared properties"),
            Self::Repeated => f.write_str("each property once"),
            Self::Name(rules) => write!(f, "property names that are {rules}"),
            Self::TooMany(most) => write!(f, "at most {most} properties"),
            Self::TooDeep => write!(f, "nesting of at most {DEEPEST} levels"),
        }
    }
}

impl Display for Simplest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::EmptyList => f.write_str("[]"),
            Self::EmptyObject => f.write_str("{}"),
            Self::Boolean(value) => value.fmt(f),
            Self::Constant(value) | Self::OneOf([value]) => write!(f, "\"{value}\""),
            Self::OneOf(values) => {
                f.write_str("<")?;
                listed(values, f)?;
                f.write_str(">")
            }
            Self::Kind(kind) => write!(f, "<{kind}>"),
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
            Self::NoString => f.write_str("none, or not a string"),
            Self::String(raw) => write!(f, "string {raw}"),
            Self::Number(raw) => write!(f, "number {raw}"),
            Self::Word(text) | Self::Name(text) => f.write_str(text),
            Self::List => f.write_str("an array"),
            Self::Object => f.write_str("an object"),
            Self::Entries(count) => write!(f, "{count} entries"),
            Self::SameName => f.write_str("the same property again"),
            Self::More => f.write_str("more"),
        }
    }
}

/// Maximum number of listed faults; others are counted.
const MOST: usize = 256;

/// The faults of one value, collected from the inside out.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    found: Vec<FoundFault>,
    /// Number of faults, listed or not.
    pub(super) count: usize,
    /// Whether faults are only counted, as it is unknown whether they matter.
    pub(super) quiet: bool,
}

/// A fault whose pointer is under construction, from its end.
#[derive(Debug, Clone)]
struct FoundFault {
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
    #[cold]
    pub(super) fn add(&mut self, kind: FaultKind, actual: impl FnOnce() -> Actual) {
        self.count += 1;
        if !self.quiet && self.found.len() < MOST {
            self.found.push(FoundFault { path: Vec::new(), kind, actual: actual() });
        }
    }

    /// Prepends this member or entry to the pointers of all faults since `before`.
    #[cold]
    pub(super) fn inside(&mut self, before: usize, segment: &Segment) {
        // More may have been counted than are listed.
        for fault in self.found.iter_mut().skip(before) {
            fault.path.push(segment.clone());
        }
    }

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

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
