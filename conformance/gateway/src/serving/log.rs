//! The request log.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use results::text::visible;

/// Maximum length of a line, in characters.
const MAX_LINE: usize = 500;

/// A log.
#[derive(Clone)]
pub struct Log(Arc<Mutex<dyn Write + Send>>);

impl Log {
    /// Returns a log with this output.
    pub fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(to)))
    }

    /// Clients control the content of a line, so it is escaped.
    pub(super) fn line(&self, text: &str) {
        let start: String = text.chars().take(MAX_LINE).collect();
        let line = visible(&start) + "\n";
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A failing log does not affect responses.
        let _ = to.write_all(line.as_bytes()).and_then(|()| to.flush());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
