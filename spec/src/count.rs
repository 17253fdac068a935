//! Indices and sequence numbers, by their value.

use std::cmp::Ordering;
use std::fmt;

use crate::decimal::Decimal;
use crate::json::Scanner;

/// An index or a sequence number, by its value: `1`, `1.0` and `1e0` are equal. It supports numbers beyond all integer
/// types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// A whole number below [`Count::LIMIT`].
    Whole(u64),
    /// Any other number: negative, fractional or larger.
    Other(Box<Decimal>),
}

/// The reason why a number is not an index or a sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// It is negative.
    Negative,
    /// It is not a whole number.
    Fractional,
    /// It exceeds the numbers that every JSON parser keeps exactly.
    TooLarge,
}

impl Count {
    /// Whole numbers below this one are [`Count::Whole`].
    pub const LIMIT: u64 = 1 << 63;

    /// The largest number that every JSON parser keeps exactly (RFC 8259, section 6).
    pub const LARGEST: u64 = (1 << 53) - 1;

    /// Returns the value of a JSON number; none for other JSON values.
    #[inline]
    pub fn read(raw: &str) -> Option<Self> {
        small(raw).map(Self::Whole).or_else(|| Self::read_any(raw))
    }

    #[cold]
    fn read_any(raw: &str) -> Option<Self> {
        let number = Scanner::new(raw).number().ok()?;
        if number.raw != raw {
            return None;
        }
        let decimal = Decimal::read(raw);
        let small = decimal.whole().and_then(|number| u64::try_from(number).ok());
        let small = small.filter(|number| *number < Self::LIMIT);
        Some(small.map_or_else(|| Self::Other(Box::new(decimal)), Self::Whole))
    }

    /// `None` unless the JSON string consists of a few digits.
    #[cold]
    pub(crate) fn quoted(raw: &str) -> Option<Self> {
        small(raw.strip_prefix('"')?.strip_suffix('"')?).map(Self::Whole)
    }

    /// Returns the number, if it is a whole one below [`Count::LIMIT`].
    pub const fn whole(&self) -> Option<u64> {
        match self {
            Self::Whole(number) => Some(*number),
            Self::Other(_) => None,
        }
    }

    /// Returns why it is not an index or a sequence number, if so.
    pub fn odd(&self) -> Option<Odd> {
        match self {
            Self::Whole(number) => (*number > Self::LARGEST).then_some(Odd::TooLarge),
            Self::Other(decimal) if decimal.is_negative => Some(Odd::Negative),
            Self::Other(decimal) if decimal.is_whole() => Some(Odd::TooLarge),
            Self::Other(_) => Some(Odd::Fractional),
        }
    }

    fn decimal(&self) -> Decimal {
        match self {
            Self::Whole(number) => {
                let text = number.to_string();
                let digits = text.trim_matches('0').into();
                Decimal { is_negative: false, power: text.len() as i128, digits }
            }
            Self::Other(decimal) => (**decimal).clone(),
        }
    }
}

impl Ord for Count {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(other),
            _ => compare(self, other),
        }
    }
}

#[cold]
fn compare(one: &Count, other: &Count) -> Ordering {
    let is_zero = |count: &Count| *count == Count::Whole(0);
    let sign = |count: &Count| match count {
        Count::Other(decimal) if decimal.is_negative => -1,
        _ if is_zero(count) => 0,
        _ => 1,
    };
    let by_sign = sign(one).cmp(&sign(other));
    if by_sign != Ordering::Equal || is_zero(one) {
        return by_sign;
    }
    let (first, second) = (one.decimal(), other.decimal());
    let by_magnitude = first.magnitude().cmp(&second.magnitude());
    if sign(one) < 0 { by_magnitude.reverse() } else { by_magnitude }
}

impl PartialOrd for Count {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Maximum number of digits in messages.
const SHOWN: usize = 20;

impl fmt::Display for Count {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = match self {
            Self::Whole(number) => return write!(to, "{number}"),
            Self::Other(decimal) => decimal,
        };
        let sign = if decimal.is_negative { "-" } else { "" };
        let (first, rest) = decimal.digits.split_at(1);
        let shown = rest.get(..SHOWN).unwrap_or(rest);
        let cut = if shown.len() < rest.len() { "…" } else { "" };
        match (decimal.power - 1, usize::try_from(decimal.power)) {
            (0, _) if rest.is_empty() => write!(to, "{sign}{first}"),
            (0, _) => write!(to, "{sign}{first}.{shown}{cut}"),
            (_, Ok(power)) if decimal.is_whole() && power <= SHOWN => {
                write!(to, "{sign}{}{}", decimal.digits, "0".repeat(power - decimal.digits.len()))
            }
            (exponent, _) if rest.is_empty() => write!(to, "{sign}{first}e{exponent}"),
            (exponent, _) => write!(to, "{sign}{first}.{shown}{cut}e{exponent}"),
        }
    }
}

/// Whole numbers of few digits, as nearly all are.
#[inline]
fn small(raw: &str) -> Option<u64> {
    let digit = |byte: u8| Some(u64::from(byte.wrapping_sub(b'0'))).filter(|digit| *digit < 10);
    if raw.is_empty() || raw.len() > 18 {
        return None;
    }
    raw.bytes().try_fold(0, |number, byte| Some(10 * number + digit(byte)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(raw: &str) -> Count {
        Count::read(raw).unwrap_or_else(|| panic!("{raw}"))
    }

    #[test]
    fn numbers_are_known_by_their_value() {
        for (raw, value) in [
            ("0", 0),
            ("-0", 0),
            ("0e9", 0),
            ("0.000", 0),
            ("7", 7),
            ("1.0", 1),
            ("10e-1", 1),
            ("0.01E2", 1),
            ("1e3", 1000),
            ("1e+03", 1000),
            ("9223372036854775807", Count::LIMIT - 1),
        ] {
            assert_eq!(count(raw), Count::Whole(value), "{raw}");
        }
        assert_eq!(count("1e20"), count("100000000000000000000.0"));
        assert_eq!(count("-10"), count("-1e1"));
        for other in [
            "\"1\"",
            "null",
            "[1]",
            "{}",
            "true",
            "",
            "0é",
            "1.é",
            "--1",
            "1e",
            "1e--170141183460469231731687303715884105728",
        ] {
            assert_eq!(Count::read(other), None, "{other}");
        }
    }

    #[test]
    fn what_cannot_count_is_told_apart() {
        let long = "9".repeat(100_000);
        for (raw, odd) in [
            ("0", None),
            ("9007199254740991", None),
            ("9007199254740992", Some(Odd::TooLarge)),
            ("9223372036854775808", Some(Odd::TooLarge)),
            ("18446744073709551616", Some(Odd::TooLarge)),
            ("1e400", Some(Odd::TooLarge)),
            ("1e99999999999999999999999999999999999999999999", Some(Odd::TooLarge)),
            (&long, Some(Odd::TooLarge)),
            ("-1", Some(Odd::Negative)),
            ("-0.5", Some(Odd::Negative)),
            ("-1e400", Some(Odd::Negative)),
            ("0.5", Some(Odd::Fractional)),
            ("1e-400", Some(Odd::Fractional)),
            ("1e-99999999999999999999999999999999999999999999", Some(Odd::Fractional)),
        ] {
            assert_eq!(count(raw).odd(), odd, "{raw}");
        }
    }

    #[test]
    fn numbers_of_any_size_have_an_order() {
        let grow = [
            "-1e400",
            "-18446744073709551616",
            "-2",
            "-1.5",
            "-1",
            "-1e-400",
            "0",
            "1e-400",
            "0.5",
            "0.51",
            "1",
            "1.5",
            "2",
            "10",
            "99",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "18446744073709551617",
            "1e400",
            "2e400",
            "1e401",
        ];
        for (at, one) in grow.iter().enumerate() {
            for (other_at, other) in grow.iter().enumerate() {
                assert_eq!(count(one).cmp(&count(other)), at.cmp(&other_at), "{one} {other}");
            }
        }
    }

    #[test]
    fn numbers_are_shown_short() {
        for (raw, shown) in [
            ("12", "12"),
            ("-1", "-1"),
            ("-12", "-12"),
            ("0.5", "5e-1"),
            ("1.5", "1.5"),
            ("1e400", "1e400"),
            ("-1.25e400", "-1.25e400"),
            ("18446744073709551616", "18446744073709551616"),
        ] {
            assert_eq!(count(raw).to_string(), shown, "{raw}");
        }
        assert!(count(&"9".repeat(1000)).to_string().len() < 40);
    }
}
