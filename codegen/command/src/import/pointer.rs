//! Places in a document.

use std::fmt;

use codegen::schema::{escape, unescape};

/// A JSON pointer, written the way `$ref` writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pointer(String);

impl Pointer {
    pub(super) fn root() -> Self {
        Self("#".to_owned())
    }

    pub(super) fn named(name: &str) -> Self {
        Self::root().at("components").at("schemas").at(name)
    }

    pub(super) fn at(&self, segment: impl fmt::Display) -> Self {
        Self(format!("{}/{}", self.0, escape(&segment.to_string())))
    }

    pub(super) fn component(&self) -> Option<String> {
        let rest = self.0.strip_prefix("#/components/schemas/")?;
        let segment = rest.split('/').next()?;
        Some(unescape(segment))
    }

    pub(super) fn whole_component(&self) -> Option<String> {
        self.component().filter(|name| Self::named(name) == *self)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
