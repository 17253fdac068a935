//! Why a value cannot be read.

use std::fmt;

use spec::json::Problem;
use spec::json::Syntax;

/// The reason why a value cannot be read as a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The text is not JSON.
    Syntax,
    /// The value has another JSON type.
    Kind,
    /// This required field is missing or invalid.
    Field(&'static str),
    /// It is nested too deeply.
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
            Self::Kind => f.write_str("the value has another JSON type"),
            Self::Field(name) => write!(f, "the required field `{name}` is missing or invalid"),
            Self::Depth => write!(f, "the value is nested deeper than {} levels", crate::DEEPEST),
        }
    }
}

/// The error for a text that is not JSON, or not of the expected type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    /// The reason.
    pub miss: Miss,
    /// Byte offset of the error.
    pub offset: usize,
    pub(crate) problem: Option<Problem>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.miss)?;
        self.problem.map_or(Ok(()), |problem| write!(f, ": {problem}"))
    }
}

impl std::error::Error for ParseError {}
