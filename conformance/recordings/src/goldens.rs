//! Good recordings, one of every shape.

use crate::capture::Format;

/// A recording that keeps every rule of its dialect.
#[derive(Debug, Clone, Copy)]
pub struct Golden {
    /// The dialect, or the family of dialects of which it holds for every version.
    pub dialect: &'static str,
    /// Its name within the dialect.
    pub name: &'static str,
    /// How it is written down: as a stream of server-sent events, as the log of a WebSocket, or as an
    /// HTTP answer that is no stream.
    pub format: Format,
    /// Its bytes.
    pub bytes: &'static [u8],
}

/// All of them, by dialect and name.
pub static GOLDENS: &[Golden] = include!(concat!(env!("OUT_DIR"), "/goldens.rs"));

impl Golden {
    /// Whether it is in that dialect: of its own, or of any version of it.
    pub fn holds_for(&self, dialect: &str) -> bool {
        dialect.strip_prefix(self.dialect).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
    }
}

/// The golden of that id, `<dialect>/<name>`.
pub fn golden(id: &str) -> Option<&'static Golden> {
    let (dialect, name) = id.split_once('/')?;
    GOLDENS.iter().find(|golden| golden.dialect == dialect && golden.name == name)
}
