//! The specification's files as a model, and everything that is made from it.
//!
//! A dialect is a folder of JSON Schema files ([`formats`] says how every file looks). It is loaded
//! and resolved once ([`dialect`]) into a small model of schemas ([`schema`]); the rest reads only
//! that model: the Rust that `spec` is built from ([`emit`]), the differences between two versions,
//! the cross-checks, the importer.

pub mod catalogue;
#[cfg(feature = "cli")]
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod dialect;
#[cfg(feature = "cli")]
pub mod diff;
pub mod emit;
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

/// The files that all dialects share.
#[derive(Debug, Clone, Default)]
pub struct SpecFiles {
    /// `scopes.toml`
    pub scopes: ScopesFile,
    /// `glossary.toml`
    pub glossary: Glossary,
}

impl SpecFiles {
    /// Reads them from the folder of the specification.
    pub fn load(spec: &Path) -> Result<Self, dialect::LoadError> {
        Ok(Self {
            scopes: dialect::read_toml(&spec.join("scopes.toml"))?,
            glossary: dialect::read_toml(&spec.join("glossary.toml"))?,
        })
    }
}
