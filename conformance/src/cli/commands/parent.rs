//! The dialect that a new dialect extends.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use spec::Dialect;
use spec::folder::{self, Folder, LoadError};

use crate::cli::input::names;

/// The dialect that a new one extends.
pub(in crate::cli) struct Parent {
    pub(in crate::cli) dialect: &'static Dialect,
    /// The value of `extends`.
    pub(in crate::cli) extends: String,
    folder: Option<Folder>,
}

impl Parent {
    /// `heir` is the folder of the new one.
    pub(in crate::cli) fn of(heir: &Path, extends: &str) -> Result<Self> {
        let dialect = names::dialect(extends)?;
        if dialect.folder.is_none() {
            return Ok(Self { dialect, extends: extends.to_owned(), folder: None });
        }
        let path = Path::new(extends);
        let around = heir.parent().filter(|around| *around != Path::new("")).unwrap_or(Path::new("."));
        let around = around.canonicalize().with_context(|| around.display().to_string())?;
        let place = path.canonicalize()?;
        let Ok(place) = place.strip_prefix(&around) else {
            bail!(
                "--extends {extends}: it is not in {}: a dialect extends a folder beside its own, or one below that",
                around.display()
            );
        };
        let parts: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
        Ok(Self { dialect, extends: format!("../{}", parts.join("/")), folder: Some(Folder::read(path)?) })
    }

    pub(in crate::cli) fn model(&self) -> Result<codegen::dialect::Dialect, LoadError> {
        let built_in = || Ok(folder::built_in(self.dialect.name)?.unwrap_or_default());
        folder::resolve(self.dialect.name, &self.folder.clone().map_or_else(built_in, Ok)?)
    }

    /// The folder that extends it, with these files.
    pub(in crate::cli) fn extended(
        &self,
        path: &Path,
        files: BTreeMap<String, String>,
    ) -> Result<Folder, LoadError> {
        Ok(Folder { base: self.folder.clone().map(Box::new), ..Folder::of_texts(path, files)? })
    }
}
