//! Output of a run on stdout and stderr.

use std::io::{self, Write as _};

use results::text::visible;

/// Prints to stdout.
pub fn show(text: &str) {
    // A closed stdout cannot be reported.
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// Prints a line to stderr, escaped for a terminal.
pub(super) fn eprint_line(line: &str) {
    // A closed stderr cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{}", visible(line));
}
