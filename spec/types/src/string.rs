//! Strings that borrow if possible.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::{IntoOwned, Miss, Read, Reader, Write, decode, encode};
use spec::json::RawString;

/// A string: borrowed from the parsed text if it has no escapes, otherwise decoded.
///
/// A JSON string can contain a lone surrogate, which Rust strings cannot. Such a string has U+FFFD in its place, is
/// marked ([`Str::is_lossy`]), and is written back unchanged.
#[derive(Clone)]
pub struct Str<'a>(Form<'a>);

#[derive(Clone)]
enum Form<'a> {
    Borrowed(&'a str),
    Owned(Box<str>),
    Lossy(Box<Lossy>),
}

#[derive(Clone)]
struct Lossy {
    text: Box<str>,
    /// The text between the quotes.
    raw: Box<str>,
}

impl<'a> Str<'a> {
    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Borrowed(text) => text,
            Form::Owned(text) => text,
            Form::Lossy(lossy) => &lossy.text,
        }
    }

    /// Returns whether the JSON string has a lone surrogate, which the text lacks.
    pub const fn is_lossy(&self) -> bool {
        matches!(self.0, Form::Lossy(_))
    }

    /// Returns whether the text is borrowed.
    pub const fn is_borrowed(&self) -> bool {
        matches!(self.0, Form::Borrowed(_))
    }

    #[inline]
    pub(crate) fn from_raw(string: RawString<'a>) -> Self {
        if string.escaped { Self::decoded(string.raw) } else { Self(Form::Borrowed(string.raw)) }
    }

    fn decoded(raw: &str) -> Self {
        let (text, lossy) = decode(raw);
        let text = text.into_owned().into_boxed_str();
        Self(if lossy { Form::Lossy(Box::new(Lossy { text, raw: raw.into() })) } else { Form::Owned(text) })
    }

    fn lossy_raw(&self) -> Option<&str> {
        match &self.0 {
            Form::Lossy(lossy) => Some(&lossy.raw),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for Str<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        reader.string().map(Self::from_raw)
    }
}

impl Write for Str<'_> {
    #[inline]
    fn write(&self, out: &mut String) {
        match &self.0 {
            Form::Lossy(lossy) => out.extend(["\"", &lossy.raw, "\""]),
            _ => encode(self, out),
        }
    }
}

impl IntoOwned for Str<'_> {
    type Owned = Str<'static>;

    fn detach(&self) -> Str<'static> {
        Str(match &self.0 {
            Form::Borrowed(text) => Form::Owned((*text).into()),
            Form::Owned(text) => Form::Owned(text.clone()),
            Form::Lossy(lossy) => Form::Lossy(lossy.clone()),
        })
    }
}

impl Deref for Str<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Str<'_> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Default for Str<'_> {
    fn default() -> Self {
        Self(Form::Borrowed(""))
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Form::Borrowed(text))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self(Form::Owned(text.into_boxed_str()))
    }
}

impl<'a> From<Cow<'a, str>> for Str<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

/// Equal texts, and equal lone surrogates, are equal.
impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() && self.lossy_raw() == other.lossy_raw()
    }
}

impl Eq for Str<'_> {}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Hash for Str<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_strings_are_borrowed_and_escaped_ones_decoded() {
        let plain = Str::parse("\"a/b\"").unwrap();
        assert!(plain.is_borrowed());
        let escaped = Str::parse(r#""a\/\u0062""#).unwrap();
        assert!(!escaped.is_borrowed());
        assert_eq!(plain, escaped);
        assert_eq!(escaped.to_json(), "\"a/b\"");
    }

    #[test]
    fn a_lone_surrogate_is_written_back_as_it_came() {
        let json = r#""a\ud83d\n""#;
        let lone = Str::parse(json).unwrap();
        assert!(lone.is_lossy());
        assert_eq!(lone, "a\u{fffd}\n");
        assert_ne!(lone, Str::from("a\u{fffd}\n"));
        assert_eq!(lone.into_owned().to_json(), json);
    }

    #[test]
    fn other_kinds_do_not_fit() {
        assert!(Str::parse("5").is_err());
        assert!(Str::parse("\"open").is_err());
    }
}
