//! Output of a run on stdout and stderr.

use std::io::{self, Write as _};

use super::SuiteError;
use results::text::visible;

/// Prints to stdout. A closed pipe is no error.
///
/// # Errors
///
/// When stdout cannot be written, for example because the disk is full.
pub fn show(text: &str) -> Result<(), SuiteError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(SuiteError::new(format!("the results cannot be printed: {error}")))
        }
        _ => Ok(()),
    }
}

pub(super) fn eprint_line(line: &str) {
    // A closed stderr cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{}", visible(line));
}
