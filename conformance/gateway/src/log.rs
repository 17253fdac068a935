//! A line for each request.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::faults::Faults;
use super::server::Settings;

/// Maximum length of a line, in characters.
const LONGEST: usize = 500;

/// Where the lines of a log go.
#[derive(Clone)]
pub struct Log(Arc<Mutex<dyn Write + Send>>);

impl Log {
    /// Returns a log that is written there.
    pub fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(to)))
    }

    /// Writes a line. Clients choose what stands in it, so nothing in it can end the line or drive a terminal.
    pub(super) fn line(&self, text: &str) {
        let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        let mut line: String = text.chars().map(visible).take(LONGEST).collect();
        line.push('\n');
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Answers do not depend on whether somebody reads the log.
        let _ = to.write_all(line.as_bytes()).and_then(|()| to.flush());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Settings {
    /// Writes a line to the log, with what became of the faults.
    pub(super) fn note(&self, what: &str, faults: &Faults) {
        let Some(log) = &self.log else { return };
        let outcome = faults.outcome();
        log.line(&if outcome.is_empty() { what.to_owned() } else { format!("{what}; {outcome}") });
    }
}
