//! Traits and containers of typed values.

use std::fmt;

use crate::{Miss, Read, Reader, Write};

/// Conversion to a value that borrows nothing.
pub trait IntoOwned {
    /// The same type, without borrows.
    type Owned;

    /// Returns a copy that borrows nothing.
    fn detach(&self) -> Self::Owned;

    /// Converts the value into one that borrows nothing.
    fn into_owned(self) -> Self::Owned
    where
        Self: Sized,
    {
        self.detach()
    }
}

/// A required value that can be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Nullable<T> {
    /// `null`
    #[default]
    Null,
    /// A value other than null.
    Value(T),
}

impl<T> Nullable<T> {
    /// Returns the value, unless it is null.
    pub const fn as_option(&self) -> Option<&T> {
        match self {
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// Returns the value, unless it is null.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }
}

/// Access to a value that can be `null`, or both absent and `null`.
pub trait NotNull {
    /// The type of the value.
    type Value;

    /// Returns the value, unless it is absent or null.
    fn not_null(&self) -> Option<&Self::Value>;
}

impl<T> NotNull for Nullable<T> {
    type Value = T;

    fn not_null(&self) -> Option<&T> {
        self.as_option()
    }
}

impl<T> NotNull for Option<Nullable<T>> {
    type Value = T;

    fn not_null(&self) -> Option<&T> {
        self.as_ref().and_then(Nullable::as_option)
    }
}

impl<T: fmt::Display> fmt::Display for Nullable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Value(value) => value.fmt(f),
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T> From<Option<T>> for Nullable<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Value)
    }
}

impl<'a, T: Read<'a>> Read<'a> for Nullable<T> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        if reader.scanner.peek() != b'n' {
            return T::read(reader).map(Self::Value);
        }
        reader.scanner.word("null")?;
        Ok(Self::Null)
    }
}

impl<T: Write> Write for Nullable<T> {
    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Value(value) => value.write(out),
        }
    }
}

impl<T: IntoOwned> IntoOwned for Nullable<T> {
    type Owned = Nullable<T::Owned>;

    fn detach(&self) -> Self::Owned {
        match self {
            Self::Null => Nullable::Null,
            Self::Value(value) => Nullable::Value(value.detach()),
        }
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;

    fn detach(&self) -> Self::Owned {
        self.as_ref().map(T::detach)
    }
}

impl<'a> Read<'a> for bool {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        match reader.scanner.peek() {
            b't' => Ok(reader.scanner.word("true").map(|()| true)?),
            b'f' => Ok(reader.scanner.word("false").map(|()| false)?),
            _ => reader.other_kind(),
        }
    }
}

impl Write for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl IntoOwned for bool {
    type Owned = Self;

    fn detach(&self) -> Self {
        *self
    }
}

impl<'a, T: Read<'a>> Read<'a> for Box<T> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        T::read(reader).map(Self::new)
    }

    #[inline]
    fn read_known(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        T::read_known(reader).map(Self::new)
    }
}

impl<T: Write> Write for Box<T> {
    fn write(&self, out: &mut String) {
        T::write(self, out);
    }
}

impl<T: IntoOwned> IntoOwned for Box<T> {
    type Owned = Box<T::Owned>;

    fn detach(&self) -> Self::Owned {
        Box::new((**self).detach())
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        let mut entries = Self::new();
        reader.entries(|reader| {
            entries.push(T::read(reader)?);
            Ok(())
        })?;
        Ok(entries)
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (at, entry) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            entry.write(out);
        }
        out.push(']');
    }
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn detach(&self) -> Self::Owned {
        let mut owned = Vec::with_capacity(self.len());
        for entry in self {
            owned.push(entry.detach());
        }
        owned
    }
}
