//! Numbers that keep their notation.

use std::borrow::Cow;
use std::fmt;

use crate::{IntoOwned, Miss, Read, Reader, Write};
use spec::Decimal;
use spec::json::RawNumber;

/// A number without a fractional part, in any notation: `5.0` and `1e3` are integers, too.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Whole);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Whole {
    /// In plain digits.
    Value(i64),
    /// In another notation, or out of range.
    Text(Box<str>),
}

impl Integer {
    /// Returns its value, if that is in range.
    pub fn get(&self) -> Option<i64> {
        match &self.0 {
            Whole::Value(value) => Some(*value),
            Whole::Text(text) => i64::try_from(Decimal::read(text).whole()?).ok(),
        }
    }

    #[inline]
    fn from_raw(number: RawNumber<'_>) -> Option<Self> {
        if number.plain
            && let Some(value) = canonical(number.raw)
        {
            return Some(Self(Whole::Value(value)));
        }
        number.is_integral().then(|| Self(Whole::Text(number.raw.into())))
    }
}

/// `None` unless these are digits (and a sign) in canonical notation.
#[inline]
fn canonical(raw: &str) -> Option<i64> {
    if raw.len() <= 15 && raw.as_bytes().first() != Some(&b'-') {
        return Some(raw.bytes().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')));
    }
    if raw == "-0" { None } else { raw.parse().ok() }
}

impl Integer {
    /// Returns the value, if it is not negative and in range.
    pub fn as_u64(&self) -> Option<u64> {
        u64::try_from(self.get()?).ok()
    }
}

impl<'a> Read<'a> for Integer {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        Self::from_raw(reader.number()?).ok_or(Miss::Kind)
    }
}

impl Write for Integer {
    fn write(&self, out: &mut String) {
        use std::fmt::Write;
        match &self.0 {
            // Writing to a string does not fail.
            Whole::Value(value) => drop(write!(out, "{value}")),
            Whole::Text(text) => out.push_str(text),
        }
    }
}

/// `0`
impl Default for Integer {
    fn default() -> Self {
        Self(Whole::Value(0))
    }
}

impl IntoOwned for Integer {
    type Owned = Self;

    fn detach(&self) -> Self {
        self.clone()
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self(Whole::Value(value))
    }
}

impl From<i32> for Integer {
    fn from(value: i32) -> Self {
        i64::from(value).into()
    }
}

impl From<u32> for Integer {
    fn from(value: u32) -> Self {
        i64::from(value).into()
    }
}

impl From<u64> for Integer {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self(Whole::Text(value.to_string().into())), Self::from)
    }
}

impl PartialEq<i64> for Integer {
    fn eq(&self, other: &i64) -> bool {
        self.get() == Some(*other)
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Whole::Value(value) => value.fmt(f),
            Whole::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number, kept as text, so that no digit is lost, even of `1e400`. Two numbers are equal if their texts are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number<'a>(Cow<'a, str>);

impl Number<'_> {
    /// Returns the nearest floating-point number, which can be infinite.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'a> Read<'a> for Number<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        reader.number().map(|number| Self(Cow::Borrowed(number.raw)))
    }
}

impl Write for Number<'_> {
    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

/// `0`
impl Default for Number<'_> {
    fn default() -> Self {
        Self(Cow::Borrowed("0"))
    }
}

impl IntoOwned for Number<'_> {
    type Owned = Number<'static>;

    fn detach(&self) -> Number<'static> {
        Number(Cow::Owned(self.as_str().to_owned()))
    }
}

macro_rules! from_whole {
    ($($of:ty)*) => {$(
        impl From<$of> for Number<'_> {
            fn from(value: $of) -> Self {
                Self(Cow::Owned(value.to_string()))
            }
        }
    )*};
}

from_whole! { i32 i64 u32 u64 }

/// An infinite number or NaN, which JSON does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON has no infinity and no NaN; use a finite number")
    }
}

impl std::error::Error for NotFinite {}

impl TryFrom<f64> for Number<'_> {
    type Error = NotFinite;

    fn try_from(value: f64) -> Result<Self, NotFinite> {
        if value.is_finite() { Ok(Self(Cow::Owned(format!("{value:?}")))) } else { Err(NotFinite) }
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_notation() {
        for (json, value) in [
            ("5", Some(5)),
            ("-12", Some(-12)),
            ("-0", Some(0)),
            ("5.0", Some(5)),
            ("1e3", Some(1000)),
            ("-1.50e1", Some(-15)),
            ("0.0e99999999999999999999", Some(0)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("123456789012345678901234567890", None),
            ("1e400", None),
            ("1e99999999999999999999", None),
        ] {
            let integer = Integer::parse(json).unwrap();
            assert_eq!(integer.get(), value, "{json}");
            assert_eq!(integer.to_json(), json);
        }
        assert!(Integer::parse("5.5").is_err());
        assert!(Integer::parse("1e-1").is_err());
        assert!(Integer::parse("\"5\"").is_err());
    }

    #[test]
    fn numbers_keep_their_text() {
        for json in ["1.0", "1e400", "-0", "0.1000", "123456789012345678901234567890"] {
            assert_eq!(Number::parse(json).unwrap().to_json(), json);
        }
        assert!((Number::try_from(0.5).unwrap().as_f64() - 0.5).abs() < f64::EPSILON);
        assert_eq!(Number::try_from(1e300).unwrap().to_json(), "1e300");
        assert_eq!(Number::try_from(f64::NAN), Err(NotFinite));
    }
}
