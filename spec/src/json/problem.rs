//! The reasons why a text is not JSON.

use std::fmt::{self, Display, Formatter};

/// The reason why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// A value is missing.
    Value,
    /// Neither a comma nor the end of the object or array follows a member or an entry.
    Separator,
    /// The name of a member is missing.
    Name,
    /// No colon follows the name of a member.
    Colon,
    /// A string contains an unescaped control character.
    ControlCharacter,
    /// The text ends inside a string.
    UnclosedString,
    /// An escape sequence is invalid.
    Escape,
    /// No digit follows a decimal point.
    Fraction,
    /// No digit follows the exponent of a number.
    Exponent,
    /// Text follows the value.
    TrailingText,
}

impl Problem {
    /// Returns the problem in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Value => "expected a value",
            Self::Separator => "expected `,` or the end of the object or array",
            Self::Name => "expected the name of a member",
            Self::Colon => "expected `:` after the name of a member",
            Self::ControlCharacter => "unescaped control character in a string",
            Self::UnclosedString => "the text ends inside a string",
            Self::Escape => "invalid escape sequence in a string",
            Self::Fraction => "expected a digit after the decimal point",
            Self::Exponent => "expected a digit in the exponent",
            Self::TrailingText => "unexpected text after the value",
        }
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
