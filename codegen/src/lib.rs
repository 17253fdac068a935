//! The model of the files under `spec/`, with the checks and generators that read it.
//!
//! A dialect is a folder of JSON Schema files; [`formats`] defines every file format. [`dialect`] loads and resolves
//! it into a small model of schemas ([`schema`]). The emitter of Rust ([`emit`]), the diff of two versions, the
//! cross-checks and the importer use only this model.

pub mod catalogue;
#[cfg(feature = "cli")]
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod dialect;
#[cfg(feature = "cli")]
pub mod diff;
pub mod emit;
pub mod folders;
pub mod formats;
#[cfg(feature = "cli")]
pub mod import;
#[cfg(feature = "cli")]
mod nearest;
#[cfg(feature = "cli")]
pub mod outdated;
#[cfg(feature = "cli")]
pub mod scaffold;
pub mod schema;
mod todo;

use std::path::Path;

use formats::{Glossary, ScopesFile};

/// The table of the API that all dialects belong to.
pub(crate) const RESPONSES: &str = "apis/responses/api.toml";

/// The files shared by all dialects.
#[derive(Debug, Clone, Default)]
pub struct SpecFiles {
    /// `apis/responses/api.toml`
    pub scopes: ScopesFile,
    /// `glossary.toml`
    pub glossary: Glossary,
}

impl SpecFiles {
    /// Reads the files from the folder of the specification.
    pub fn load(spec: &Path) -> Result<Self, dialect::LoadError> {
        Ok(Self {
            scopes: dialect::read_toml(&spec.join(RESPONSES))?,
            glossary: dialect::read_toml(&spec.join("glossary.toml"))?,
        })
    }
}
