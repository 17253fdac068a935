//! Good streams, one of every shape.

/// A stream that keeps every rule of its dialect.
#[derive(Debug, Clone, Copy)]
pub struct Golden {
    /// The dialect, or the family of dialects of which it holds for every version.
    pub dialect: &'static str,
    /// Its name within the dialect.
    pub name: &'static str,
    /// Its bytes.
    pub stream: &'static [u8],
}

/// All of them, by dialect and name.
pub static GOLDENS: &[Golden] = include!(concat!(env!("OUT_DIR"), "/goldens.rs"));

impl Golden {
    /// Whether it is a stream of that dialect: of its own, or of any version of it.
    pub fn holds_for(&self, dialect: &str) -> bool {
        dialect.strip_prefix(self.dialect).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
    }
}

/// The golden of that id, `<dialect>/<name>`.
pub fn golden(id: &str) -> Option<&'static Golden> {
    let (dialect, name) = id.split_once('/')?;
    GOLDENS.iter().find(|golden| golden.dialect == dialect && golden.name == name)
}
