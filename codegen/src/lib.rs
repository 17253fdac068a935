//! The model of the files under `spec/`, with the checks and generators that read it.
//!
//! A dialect is a folder of JSON Schema files; [`formats`] defines every file format. [`dialect`] loads and resolves
//! it into a small model of schemas ([`schema`]), which the emitter of Rust ([`emit`]) and the diff of two versions use.

pub mod catalogue;
pub mod dialect;
pub mod diff;
pub mod emit;
pub mod folders;
pub mod formats;
mod names;
pub mod schema;
pub mod sound;
pub mod tables;
pub mod todo;

use std::collections::BTreeMap;
use std::path::Path;

use formats::{ApiFile, ForeignFile, Glossary, Scope};

/// The files shared by all dialects.
#[derive(Debug, Clone, Default)]
pub struct SpecFiles {
    /// `apis/<name>/api.toml`, by name.
    pub apis: BTreeMap<String, ApiFile>,
    /// `foreign.toml`
    pub foreign: ForeignFile,
    /// `glossary.toml`
    pub glossary: Glossary,
}

impl SpecFiles {
    /// Reads the files from the folder of the specification.
    pub fn load(spec: &Path) -> Result<Self, dialect::LoadError> {
        let mut apis = BTreeMap::new();
        for name in folders::apis(spec) {
            let file = dialect::read_toml(&spec.join(folders::api(&name)))?;
            apis.insert(name, file);
        }
        let foreign = spec.join(folders::FOREIGN);
        let foreign = if foreign.is_file() { dialect::read_toml(&foreign)? } else { ForeignFile::default() };
        Ok(Self { apis, foreign, glossary: dialect::read_toml(&spec.join("glossary.toml"))? })
    }

    /// Returns the API of a dialect.
    ///
    /// # Errors
    ///
    /// If there is no such API.
    pub fn api_of(&self, dialect: &dialect::Dialect) -> Result<&ApiFile, String> {
        let name = &dialect.file.api;
        self.apis.get(name).ok_or_else(|| format!("dialect {}: there is no API \"{name}\"", dialect.name))
    }

    /// Returns a scope of an API, or of the first API that has it.
    pub fn scope(&self, api: Option<&str>, name: &str) -> Option<&Scope> {
        match api {
            Some(api) => self.apis.get(api)?.scopes.get(name),
            None => self.apis.values().find_map(|api| api.scopes.get(name)),
        }
    }
}
