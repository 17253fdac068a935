//! Reading typed values.

use std::fmt;

use super::Reader;
use super::scanner::Syntax;

/// What can be read from JSON.
pub trait Read<'a>: Sized {
    /// Reads the value at the cursor. After a miss that is not of syntax the cursor is anywhere inside it.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss>;

    /// Returns the same, but a union does not take what it does not know for a value.
    fn read_known(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        Self::read(reader)
    }

    /// Reads a text that holds one value and nothing else.
    fn parse(text: &'a str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let value = Self::read(&mut reader).map_err(|miss| reader.error(miss))?;
        reader.end().map_err(|miss| reader.error(miss))?;
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
    pub(super) problem: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.miss)?;
        if self.problem.is_empty() { Ok(()) } else { write!(f, ": {}", self.problem) }
    }
}

impl std::error::Error for ParseError {}
