//! Reads typed values.

use crate::{Miss, ParseError, Reader};

/// A type that can be read from JSON.
pub trait Read<'a>: Sized {
    /// After a miss other than a syntax error, the cursor is anywhere inside it.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss>;

    /// Reads the value at the cursor, but fails on unknown values of a union.
    fn read_known(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        Self::read(reader)
    }

    /// Parses a text with exactly one value.
    fn parse(text: &'a str) -> Result<Self, ParseError> {
        Reader::new(text).whole(Self::read)
    }

    /// Parses a text with exactly one value, whose objects may lack members that their types require.
    fn parse_lenient(text: &'a str) -> Result<Lenient<Self>, ParseError> {
        Reader::lenient(text).whole_lenient(Self::read)
    }
}

/// A value that may lack members that its type requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lenient<T> {
    /// The value, in which missing members are empty, `0`, `false` or unknown. To hand it on, send the text that was
    /// read.
    pub value: T,
    /// The names of required members that are absent or invalid, of the value and of the objects in it.
    pub missing: Vec<&'static str>,
}

impl<T> Lenient<T> {
    /// Returns whether no required member is missing.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Reader<'_> {
    pub(crate) fn whole<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Miss>,
    ) -> Result<T, ParseError> {
        let value = read(self).map_err(|miss| self.error(miss))?;
        self.scanner.end().map_err(|syntax| self.error(syntax.into()))?;
        Ok(value)
    }

    /// The only value of the text, with what it lacks.
    pub(crate) fn whole_lenient<T>(
        mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Miss>,
    ) -> Result<Lenient<T>, ParseError> {
        let value = self.whole(read)?;
        let missing = self.missing.unwrap_or_default();
        Ok(Lenient { value, missing: missing.into_iter().map(|(_, name)| name).collect() })
    }
}
