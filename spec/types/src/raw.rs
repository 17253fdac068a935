//! JSON values as text.

use std::borrow::Cow;
use std::fmt;

use crate::{IntoOwned, Miss, ParseError, Read, Reader, Write};

/// A JSON value of any kind, kept as text. Two values are equal if their texts are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw<'a>(Cow<'a, str>);

impl Raw<'_> {
    /// Returns its text: one JSON value without white space around it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the value as another type.
    pub fn decode<'r, T: Read<'r>>(&'r self) -> Result<T, ParseError> {
        T::parse(&self.0)
    }

    /// Creates a value from one that can be written as JSON.
    pub fn of(value: &impl Write) -> Raw<'static> {
        Raw(Cow::Owned(value.to_json()))
    }
}

impl<'a> Read<'a> for Raw<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        Ok(Self(Cow::Borrowed(reader.scanner.raw()?)))
    }
}

impl Write for Raw<'_> {
    #[inline]
    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

/// `null`
impl Default for Raw<'_> {
    fn default() -> Self {
        Self(Cow::Borrowed("null"))
    }
}

impl IntoOwned for Raw<'_> {
    type Owned = Raw<'static>;

    fn detach(&self) -> Raw<'static> {
        Raw(Cow::Owned(self.as_str().to_owned()))
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
