//! Good recordings, one of every kind.

use crate::capture::Format;

/// A recording that complies with every rule of its dialect.
#[derive(Debug, Clone, Copy)]
pub struct Golden {
    /// The dialect, or the dialect whose versions all share it.
    pub dialect: &'static str,
    /// Its name within the dialect.
    pub name: &'static str,
    /// Format: a stream of server-sent events, a WebSocket log, or an HTTP response.
    pub format: Format,
    /// Its bytes.
    pub bytes: &'static [u8],
}

/// All of them, by dialect and name.
pub static GOLDENS: &[Golden] = include!(concat!(env!("OUT_DIR"), "/goldens.rs"));

impl Golden {
    /// Returns whether it is a golden of that dialect, or of any version of it.
    pub fn holds_for(&self, dialect: &str) -> bool {
        dialect.strip_prefix(self.dialect).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
    }
}

/// Returns the golden with that id, `<dialect>/<name>`.
pub fn golden(id: &str) -> Option<&'static Golden> {
    let (dialect, name) = id.split_once('/')?;
    GOLDENS.iter().find(|golden| golden.dialect == dialect && golden.name == name)
}
