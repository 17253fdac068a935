//! Why a recording cannot be read.

use std::fmt;

use super::Format;

/// Why a recording cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureError {
    /// There is nothing in it.
    Empty,
    /// It is compressed, in this way.
    Compressed(&'static str),
    /// It looks like none of the formats.
    Unrecognised,
    /// This build of the suite was made without what reads it: the feature of that name.
    LeftOut(&'static str),
    /// It is not what its format demands.
    Malformed {
        /// The format.
        format: Format,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong there.
        problem: String,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing was recorded: there is not a single byte"),
            Self::Compressed(how) => write!(f, "it is compressed with {how}; decompress it first"),
            Self::Unrecognised => {
                f.write_str("it looks like none of the formats; name the right one with --format-in: ")?;
                let names = Format::ALL.map(Format::name);
                f.write_str(&names.join(", "))
            }
            Self::LeftOut(feature) => {
                write!(f, "this build cannot read it; it lacks the feature `{feature}`")
            }
            Self::Malformed { format, line, problem } => {
                write!(f, "line {line}: {problem} (read as {})", format.name())
            }
        }
    }
}

impl std::error::Error for CaptureError {}
