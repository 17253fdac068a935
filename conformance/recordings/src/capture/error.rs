//! Errors of parsing recordings.

use std::fmt;

use spec::APIS;

use super::Format;

/// Errors of parsing recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureError {
    /// The recording is empty.
    Empty,
    /// The recording cannot be decompressed completely.
    Compression {
        /// The compression.
        how: String,
        /// Number of bytes decompressed before the error.
        after: u64,
        /// The error.
        problem: String,
    },
    /// The recording was compressed twice, the second time in this way.
    CompressedTwice(&'static str),
    /// The recording is UTF-16.
    Utf16,
    /// The recording is an archive of this kind, whose files are not read.
    Archive(&'static str),
    /// The recording is a web page.
    WebPage,
    /// The format is not recognized.
    Unrecognised,
    /// The recording cannot be parsed before it is complete, and is too large for that.
    TooLarge {
        /// The format, if it is known.
        format: Option<Format>,
        /// The limit, in bytes.
        most: usize,
    },
    /// The recording violates its format.
    Malformed {
        /// The format.
        format: Format,
        /// The line, counted from 1.
        line: u64,
        /// The error.
        problem: String,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the recording is empty"),
            Self::Compression { how, after, problem } => {
                write!(f, "it is compressed with {how}, and cannot be decompressed ")?;
                match after {
                    0 => write!(f, "at all: {problem}"),
                    _ => write!(f, "beyond its first {after} bytes: {problem}"),
                }
            }
            Self::CompressedTwice(how) => {
                write!(f, "it is compressed twice, with {how} inside; decompress it once")
            }
            Self::Utf16 => f.write_str(
                "it is UTF-16, as PowerShell writes the output of a command; recordings must be UTF-8",
            ),
            Self::Archive(kind) => {
                write!(f, "it is a {kind} archive; unpack it, and give the files or their folder")
            }
            Self::WebPage => {
                let routes: Vec<String> = APIS.iter().map(|api| format!("POST /v1{}", api.path)).collect();
                write!(
                    f,
                    "it is an HTML page, as a proxy or a wrong URL sends one; record the response of {}",
                    routes.join(" or ")
                )
            }
            Self::Unrecognised => {
                f.write_str("the format is not recognized; choose one with --format-in: ")?;
                let names = Format::ALL.map(Format::name);
                f.write_str(&names.join(", "))
            }
            Self::TooLarge { format: Some(format), most } => {
                let (name, most) = (format.name(), most >> 20);
                write!(f, "it is larger than {most} MiB, the limit for the format {name}; split it")
            }
            Self::TooLarge { format: None, most } => {
                write!(f, "its format is not recognized in its first {} MiB", most >> 20)
            }
            Self::Malformed { format, line, problem } => {
                write!(f, "line {line}: {problem} (read as {})", format.name())
            }
        }
    }
}

impl std::error::Error for CaptureError {}
