//! Reading typed values.

use std::borrow::Cow;
use std::fmt;

use super::scanner::{RawNumber, RawString, Scanner, Syntax};
use super::{Extra, Raw, Str, decode};

/// What can be read from JSON.
pub trait Read<'a>: Sized {
    /// Reads the value at the cursor. After a miss that is not of syntax the cursor is anywhere inside it.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss>;

    /// The same, but a union does not take what it does not know for a value.
    fn read_known(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        Self::read(reader)
    }

    /// Reads a text that holds one value and nothing else.
    fn parse(text: &'a str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let value = Self::read(&mut reader).map_err(|miss| reader.error(miss))?;
        reader.scanner.end().map_err(|syntax| reader.error(syntax.into()))?;
        Ok(value)
    }
}

/// Why a value cannot be read as a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The text is not JSON.
    Syntax,
    /// It is a value of another kind.
    Kind,
    /// This required field is missing or does not fit.
    Field(&'static str),
    /// It is nested deeper than values are followed.
    Depth,
}

impl From<Syntax> for Miss {
    fn from(_: Syntax) -> Self {
        Self::Syntax
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => f.write_str("the text is not JSON"),
            Self::Kind => f.write_str("the value is of another kind"),
            Self::Field(name) => write!(f, "the required field `{name}` is missing or does not fit"),
            Self::Depth => write!(f, "it is nested deeper than {} levels", super::DEEPEST),
        }
    }
}

/// A text that is not JSON, or not the wanted type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub miss: Miss,
    /// Byte offset at which that was found.
    pub offset: usize,
    problem: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.miss)?;
        if self.problem.is_empty() { Ok(()) } else { write!(f, ": {}", self.problem) }
    }
}

impl std::error::Error for ParseError {}

/// A cursor that typed values are read from.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(super) scanner: Scanner<'a>,
    /// How much of what was read so far is kept without being understood.
    unexplained: u32,
    /// How many more bytes may be read again to try another branch of a union. Nested unions whose
    /// branches nothing tells apart would multiply; so they read each byte a limited number of times,
    /// and what a hostile text holds beyond that is kept as it stands.
    retries: usize,
}

/// Kinds of JSON value, one bit each.
pub mod kind {
    /// `null`
    pub const NULL: u8 = 1;
    /// `true` or `false`
    pub const BOOLEAN: u8 = 2;
    /// a number
    pub const NUMBER: u8 = 4;
    /// a string
    pub const STRING: u8 = 8;
    /// a list
    pub const ARRAY: u8 = 16;
    /// an object
    pub const OBJECT: u8 = 32;
}

/// A branch of a union: the kinds of value that it may match, and how it is read.
pub(crate) type Branch<'a, T> = (u8, fn(&mut Reader<'a>) -> Result<T, Miss>);

impl<'a> Reader<'a> {
    /// A reader at the start of the text.
    pub fn new(text: &'a str) -> Self {
        Self { scanner: Scanner::new(text), unexplained: 0, retries: text.len().saturating_mul(16) }
    }

    pub(crate) fn error(&self, miss: Miss) -> ParseError {
        let problem = if miss == Miss::Syntax { self.scanner.problem() } else { "" };
        ParseError { miss, offset: self.scanner.offset(), problem }
    }

    pub(crate) fn end(&mut self) -> Result<(), Miss> {
        Ok(self.scanner.end()?)
    }

    #[inline]
    pub(super) fn string(&mut self) -> Result<RawString<'a>, Miss> {
        if self.scanner.peek() == b'"' { Ok(self.scanner.string()?) } else { self.other_kind() }
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<RawNumber<'a>, Miss> {
        match self.scanner.peek() {
            b'-' | b'0'..=b'9' => Ok(self.scanner.number()?),
            _ => self.other_kind(),
        }
    }

    #[inline]
    pub(super) fn boolean(&mut self) -> Result<bool, Miss> {
        match self.scanner.peek() {
            b't' => Ok(self.scanner.word("true").map(|()| true)?),
            b'f' => Ok(self.scanner.word("false").map(|()| false)?),
            _ => self.other_kind(),
        }
    }

    /// Reads `null`, if that is what stands there.
    #[inline]
    pub(super) fn null(&mut self) -> Result<bool, Miss> {
        if self.scanner.peek() == b'n' { Ok(self.scanner.word("null").map(|()| true)?) } else { Ok(false) }
    }

    #[inline]
    pub(super) fn raw(&mut self) -> Result<&'a str, Miss> {
        Ok(self.scanner.raw()?)
    }

    /// A value of a kind that was not wanted; what is no value at all is found here.
    #[cold]
    fn other_kind<T>(&mut self) -> Result<T, Miss> {
        self.scanner.skip()?;
        Err(Miss::Kind)
    }

    /// Goes one level deeper into a value that starts with this byte.
    #[inline]
    fn enter(&mut self, open: u8) -> Result<(), Miss> {
        if self.scanner.peek() != open {
            return self.other_kind();
        }
        if !self.scanner.descend() {
            self.scanner.ascend();
            return Err(Miss::Depth);
        }
        self.scanner.advance();
        Ok(())
    }

    /// Reads a list, calling `entry` at every value.
    #[inline]
    pub(super) fn entries(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        self.enter(b'[')?;
        let mut end = self.scanner.peek() == b']';
        if end {
            self.scanner.advance();
        }
        while !end {
            if let Err(miss) = entry(self) {
                self.scanner.ascend();
                return Err(miss);
            }
            end = self.scanner.separator(b']')?;
        }
        self.scanner.ascend();
        Ok(())
    }

    /// Reads an object whose values are all of one type.
    pub(super) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Str<'a>) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        let mut fields = Fields::open(self)?;
        while let Some(name) = fields.next(self)? {
            if let Err(miss) = member(self, name) {
                self.scanner.ascend();
                return Err(miss);
            }
        }
        fields.finish(self);
        Ok(())
    }

    /// The offset of the object at the cursor.
    pub(super) fn start_of_object(&mut self) -> Result<usize, Miss> {
        if self.scanner.peek() == b'{' { Ok(self.scanner.offset()) } else { self.other_kind() }
    }

    /// The string member of that name of the object at the cursor, which stays where it is.
    #[inline]
    pub(super) fn string_member(&self, name: &str) -> Result<Option<Str<'a>>, Miss> {
        Ok(self.scanner.member(name)?.map(Str::from_raw))
    }

    /// The value of the string member that tells the branches of a union apart; `None` for what is no
    /// object, and for unions that have no such member.
    #[inline]
    pub(crate) fn tag(&mut self, name: &str) -> Result<Option<Str<'a>>, Miss> {
        if name.is_empty() || self.scanner.peek() != b'{' {
            return Ok(None);
        }
        Ok(Some(self.string_member(name)?.unwrap_or_default()))
    }

    /// Reads a value with whichever branch leaves the least of it unexplained, the first of equals.
    pub(crate) fn best<T>(&mut self, branches: &[Branch<'a, T>]) -> Result<T, Miss> {
        let kind = match self.scanner.peek() {
            b'{' => kind::OBJECT,
            b'"' => kind::STRING,
            b'[' => kind::ARRAY,
            b't' | b'f' => kind::BOOLEAN,
            b'n' => kind::NULL,
            _ => kind::NUMBER,
        };
        let start = self.scanner.offset();
        let before = self.unexplained;
        let mut best: Option<(T, u32, usize)> = None;
        let mut miss = Miss::Kind;
        for (_, read) in branches.iter().filter(|(kinds, _)| kinds & kind != 0) {
            let again = self.scanner.offset() - start;
            if again > self.retries {
                break;
            }
            self.retries -= again;
            self.scanner.rewind(start);
            self.unexplained = before;
            match read(self) {
                Ok(value) if self.unexplained == before => return Ok(value),
                Ok(value) => {
                    let unexplained = self.unexplained - before;
                    if best.as_ref().is_none_or(|(_, least, _)| unexplained < *least) {
                        best = Some((value, unexplained, self.scanner.offset()));
                    }
                }
                Err(Miss::Syntax) => return Err(Miss::Syntax),
                Err(other) => miss = other,
            }
        }
        let (value, unexplained, end) = best.ok_or(miss)?;
        self.unexplained = before + unexplained;
        self.scanner.rewind(end);
        Ok(value)
    }

    /// What was read, or the value as it stands when it does not fit.
    #[inline]
    pub(crate) fn known_or<T>(
        &mut self,
        read: fn(&mut Self) -> Result<T, Miss>,
        unknown: fn(Raw<'a>) -> T,
    ) -> Result<T, Miss> {
        self.scanner.peek();
        let start = self.scanner.offset();
        let before = self.unexplained;
        match read(self) {
            Err(Miss::Syntax) => Err(Miss::Syntax),
            Err(_) => {
                self.unexplained = before;
                self.misfit(start).map(unknown)
            }
            fits => fits,
        }
    }

    /// Takes the value at an offset as it stands.
    #[cold]
    pub(crate) fn misfit(&mut self, start: usize) -> Result<Raw<'a>, Miss> {
        self.scanner.rewind(start);
        self.not_understood();
        Raw::read(self)
    }

    #[inline]
    pub(crate) const fn not_understood(&mut self) {
        self.unexplained = self.unexplained.saturating_add(1);
    }
}

/// The members of an object that is being read.
#[derive(Debug)]
pub struct Fields<'a> {
    started: bool,
    extra: Vec<(Str<'a>, Raw<'a>)>,
    /// Values of optional fields that did not fit, each field once.
    misfits: Vec<(&'static str, Raw<'a>)>,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn open(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        reader.enter(b'{')?;
        Ok(Self { started: false, extra: Vec::new(), misfits: Vec::new() })
    }

    /// The name of the next member, if there is one; the cursor is then at its value.
    #[inline]
    pub(crate) fn next(&mut self, reader: &mut Reader<'a>) -> Result<Option<Str<'a>>, Miss> {
        if self.started {
            if reader.scanner.separator(b'}')? {
                return Ok(None);
            }
        } else {
            self.started = true;
            if reader.scanner.peek() == b'}' {
                reader.scanner.advance();
                return Ok(None);
            }
        }
        Ok(Some(Str::from_raw(reader.scanner.name()?)))
    }

    /// Reads a field without which there is no value.
    #[inline]
    pub(crate) fn required<T: Read<'a>>(
        &mut self,
        reader: &mut Reader<'a>,
        _: &'static str,
        slot: &mut Option<T>,
    ) -> Result<(), Miss> {
        let start = reader.scanner.offset();
        match T::read(reader) {
            Ok(value) => *slot = Some(value),
            Err(Miss::Syntax) => return Err(Miss::Syntax),
            Err(_) => {
                *slot = None;
                reader.misfit(start)?;
            }
        }
        Ok(())
    }

    /// Reads a field that may be absent. What does not fit is kept among the unknown.
    #[inline]
    pub(crate) fn optional<T: Read<'a>>(
        &mut self,
        reader: &mut Reader<'a>,
        name: &'static str,
        slot: &mut Option<T>,
    ) -> Result<(), Miss> {
        let start = reader.scanner.offset();
        match T::read(reader) {
            Ok(value) => *slot = Some(value),
            Err(Miss::Syntax) => return Err(Miss::Syntax),
            Err(_) => {
                *slot = None;
                let raw = reader.misfit(start)?;
                self.misfits.retain(|(known, _)| *known != name);
                self.misfits.push((name, raw));
                return Ok(());
            }
        }
        if !self.misfits.is_empty() {
            self.misfits.retain(|(known, _)| *known != name);
        }
        Ok(())
    }

    /// Reads a field that only ever has one value.
    #[inline]
    pub(crate) fn constant(
        &mut self,
        reader: &mut Reader<'a>,
        wanted: &'static str,
        slot: &mut Option<()>,
    ) -> Result<(), Miss> {
        let found = match reader.string() {
            Ok(found) if found.escaped => decode(found.raw) == (Cow::Borrowed(wanted), false),
            Ok(found) => found.raw == wanted,
            Err(Miss::Syntax) => return Err(Miss::Syntax),
            Err(_) => false,
        };
        *slot = found.then_some(());
        Ok(())
    }

    /// Keeps a member that the schema does not list.
    #[cold]
    pub(crate) fn unknown(&mut self, reader: &mut Reader<'a>, name: Str<'a>) -> Result<(), Miss> {
        reader.not_understood();
        self.extra.push((name, Raw::read(reader)?));
        Ok(())
    }

    /// What is left over at the end of the object.
    #[inline]
    pub(crate) fn finish(self, reader: &mut Reader<'a>) -> Extra<'a> {
        reader.scanner.ascend();
        if self.extra.is_empty() && self.misfits.is_empty() { Extra::new() } else { self.leftover() }
    }

    #[cold]
    fn leftover(mut self) -> Extra<'a> {
        self.extra.extend(self.misfits.into_iter().map(|(name, raw)| (name.into(), raw)));
        Extra::from_members(self.extra)
    }
}
