//! Messages on stderr. Their quotations cannot control the terminal, nor forge a line of a log.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write as _};

use results::text::visible;

/// An error of several lines. Line breaks in other errors come from what they quote, and are escaped.
#[derive(Debug)]
pub(super) struct Lines(pub(super) Vec<String>);

impl Display for Lines {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl Error for Lines {}

pub(super) fn escaped(error: &anyhow::Error) -> String {
    let one = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<Lines>() {
        Some(Lines(lines)) => lines.iter().map(|line| visible(line)).collect::<Vec<_>>().join("\n"),
        None => visible(&cause.to_string()),
    };
    error.chain().map(one).collect::<Vec<_>>().join(": ")
}

/// Escaped for a terminal.
pub(super) fn note(line: &str) {
    // A closed stderr is no error.
    let _ = writeln!(io::stderr().lock(), "{}", visible(line));
}

/// The parts of the text are escaped already.
pub(super) fn note_lines(text: &str) {
    // A closed stderr is no error.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn only_lines_of_ours_are_lines() {
        let quoted: anyhow::Result<()> =
            Err(anyhow::anyhow!("no profile \"x\n::error::y\u{202e}\u{1b}[2J\""));
        let error = quoted.context("a\nb").expect_err("it is one");
        assert_eq!(escaped(&error), "a\\nb: no profile \"x\\n::error::y\\u{202e}\\u{1b}[2J\"");
        let lines = anyhow::Error::new(Lines(vec!["a\nb".to_owned(), "c".to_owned()]));
        assert_eq!(escaped(&lines), "a\\nb\nc");
    }
}
